import { patternWithMessage } from '../../../kernel/patterns.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import {
  Id,
  input,
  nullable,
  pageQuery,
  patchRequest,
  request,
  response,
  Time
} from '../../../kernel/wire.ts'

const text = (longest: number) => ({
  maxLength: longest,
  ...patternWithMessage(
    `^[^\\s\\u0000-\\u001f\\u007f]{1,${longest}}$`,
    `must be 1 to ${longest} characters without spaces`
  )
})
const UsesMax = Type.Integer({ minimum: 1, maximum: 1_000_000_000 })

export const CreatePromotionCodeRequest = request('CreateCodeRequest', {
  code: Type.String({ description: 'The code that customers enter. Case does not matter.', ...text(64) }),
  uses_max: Type.Optional(
    nullable({ ...UsesMax, description: 'Maximum number of uses. Default and null: unlimited.' })
  )
})
export type CreatePromotionCodeRequest = Static<typeof CreatePromotionCodeRequest>

export const CreatePromotionCodeBatchRequest = request('CreateCodeBatchRequest', {
  count: Type.Integer({ minimum: 1, maximum: 10_000 }),
  prefix: Type.Optional(Type.String({ description: 'Text that all codes start with.', ...text(32) })),
  length: Type.Optional(
    Type.Integer({
      description: 'Number of random characters after the prefix. More characters are harder to guess.',
      minimum: 8,
      maximum: 24,
      default: 10
    })
  ),
  uses_max: Type.Optional(
    nullable({ ...UsesMax, default: 1, description: 'Maximum number of uses of each code. Null: unlimited.' })
  )
})
export type CreatePromotionCodeBatchRequest = Static<typeof CreatePromotionCodeBatchRequest>
export const PromotionCodeBatchResponse = response('CodeBatchResponse', {
  batch_id: Id,
  count: Type.Integer()
})
export type PromotionCodeBatchResponse = Static<typeof PromotionCodeBatchResponse>

export const UpdatePromotionCodeRequest = patchRequest('UpdateCodeRequest', {
  active: Type.Boolean({ description: 'Whether customers can use it.' }),
  uses_max: nullable({ ...UsesMax, description: 'Maximum number of uses. Null: unlimited.' })
})
export type UpdatePromotionCodeRequest = Static<typeof UpdatePromotionCodeRequest>

export const PromotionCodesQuery = input({
  ...pageQuery,
  batch_id: Type.Optional({ ...Id, description: 'Only codes of this batch.' })
})
export type PromotionCodesQuery = Static<typeof PromotionCodesQuery>
export const PromotionCodeParams = input({ id: Id, codeId: Id })

export const PromotionCodeResponse = response('CodeResponse', {
  id: Id,
  code: Type.String(),
  batch_id: nullable(Id),
  active: Type.Boolean(),
  uses_max: nullable(Type.Integer()),
  uses_left: nullable(Type.Integer({ description: 'Number of uses that remain. Null: unlimited.' })),
  created_at: Time
})
export type PromotionCodeResponse = Static<typeof PromotionCodeResponse>
