import { matching } from '../../../kernel/patterns.ts'
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
  ...matching(
    `^[^\\s\\u0000-\\u001f\\u007f]{1,${longest}}$`,
    `must be 1 to ${longest} characters without spaces`
  )
})
const UsesMax = Type.Integer({ minimum: 1, maximum: 1_000_000_000 })

export const CreateCodeRequest = request('CreateCodeRequest', {
  code: Type.String({ description: 'What shoppers type, in capitals or not.', ...text(64) }),
  uses_max: Type.Optional(
    nullable({ ...UsesMax, description: 'How often it can be used; null, as without this: without a limit.' })
  )
})
export type CreateCodeRequest = Static<typeof CreateCodeRequest>

export const CreateCodeBatchRequest = request('CreateCodeBatchRequest', {
  count: Type.Integer({ minimum: 1, maximum: 10_000 }),
  prefix: Type.Optional(Type.String({ description: 'What all of them begin with.', ...text(32) })),
  length: Type.Optional(
    Type.Integer({
      description:
        'How many random letters and digits come behind it: the more, the harder they are to guess.',
      minimum: 8,
      maximum: 24,
      default: 10
    })
  ),
  uses_max: Type.Optional(nullable({ ...UsesMax, default: 1, description: 'How often each can be used.' }))
})
export type CreateCodeBatchRequest = Static<typeof CreateCodeBatchRequest>
export const CodeBatchResponse = response('CodeBatchResponse', { batch_id: Id, count: Type.Integer() })
export type CodeBatchResponse = Static<typeof CodeBatchResponse>

export const UpdateCodeRequest = patchRequest('UpdateCodeRequest', {
  active: Type.Boolean({ description: 'Whether it can be used.' }),
  uses_max: nullable({ ...UsesMax, description: 'How often it can be used; null: without a limit.' })
})
export type UpdateCodeRequest = Static<typeof UpdateCodeRequest>

export const CodesQuery = input({
  ...pageQuery,
  batch_id: Type.Optional({ ...Id, description: 'Only those that were made at once.' })
})
export type CodesQuery = Static<typeof CodesQuery>
export const CodeParams = input({ id: Id, codeId: Id })

export const CodeResponse = response('CodeResponse', {
  id: Id,
  code: Type.String(),
  batch_id: nullable(Id),
  active: Type.Boolean(),
  uses_max: nullable(Type.Integer()),
  uses_left: nullable(
    Type.Integer({ description: 'How often it can still be used; null: without a limit.' })
  ),
  created_at: Time
})
export type CodeResponse = Static<typeof CodeResponse>
