import { patternWithMessage } from '../../../kernel/patterns.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import {
  Id,
  input,
  line,
  nullable,
  patchRequest,
  request,
  response,
  Time,
  Version
} from '../../../kernel/wire.ts'
import { TRACKING_NUMBER_CHECK_METHODS } from './tracking-numbers.ts'

export const CARRIERS_MAX = 200
const RULES_MAX = 20

const Mask = Type.String({
  minLength: 1,
  maxLength: 60,
  ...patternWithMessage(
    '^[0-9A-Z#@*]+~?$',
    'must consist of digits, capital letters, # (a digit), @ (a letter) and * (either), with an optional ~ (any more) at the end'
  )
})
const NumberRule = {
  mask: Mask,
  check: nullable(
    Type.Enum([...TRACKING_NUMBER_CHECK_METHODS], {
      description: 'Algorithm of the check digit. Null: the number has none.'
    })
  )
}
/** Characters of a URL that need no escaping in HTML. */
const SIGNS = '[A-Za-z0-9._~:/?#@!$&()*+,;=%-]*'
const fields = {
  name: line(100, 'Name of the carrier for buyers.'),
  tracking_url: Type.Optional(
    nullable(
      Type.String({
        maxLength: 500,
        description: 'Tracking page of the carrier. `{tracking_number}` stands for the number.',
        ...patternWithMessage(
          `^https://[A-Za-z0-9.-]+(:[0-9]+)?/${SIGNS}\\{tracking_number\\}${SIGNS}$`,
          'must be an https URL with {tracking_number} after its host'
        )
      })
    )
  ),
  number_rules: Type.Optional(
    Type.Array(input(NumberRule), {
      description: 'Formats of the tracking numbers. Empty: any number is accepted.',
      maxItems: RULES_MAX
    })
  )
}
export const CreateCarrierRequest = request('CreateCarrierRequest', {
  code: Type.String({
    maxLength: 40,
    ...patternWithMessage('^[a-z0-9][a-z0-9-]{0,39}$', 'must be a word of a to z, 0 to 9 and -'),
    description: 'Identifier of the carrier. It cannot be changed.'
  }),
  ...fields
})
export type CreateCarrierRequest = Static<typeof CreateCarrierRequest>
export const UpdateCarrierRequest = patchRequest('UpdateCarrierRequest', fields)
export type UpdateCarrierRequest = Static<typeof UpdateCarrierRequest>

export const CarrierResponse = response('CarrierResponse', {
  id: Id,
  code: Type.String(),
  name: Type.String(),
  tracking_url: nullable(Type.String()),
  number_rules: Type.Array(Type.Object({ mask: Type.String(), check: NumberRule.check })),
  version: Version,
  created_at: Time
})
export type CarrierResponse = Static<typeof CarrierResponse>
