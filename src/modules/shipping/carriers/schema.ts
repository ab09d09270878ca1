import { matching } from '../../../kernel/patterns.ts'
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
import { CHECK_NAMES } from './numbers.ts'

export const CARRIERS_MAX = 200
const RULES_MAX = 20

const Mask = Type.String({
  minLength: 1,
  maxLength: 60,
  ...matching(
    '^[0-9A-Z#@*]+~?$',
    'must be digits, capital letters, # (a digit), @ (a letter), * (either), and at its end perhaps ~ (any more)'
  )
})
const NumberRule = {
  mask: Mask,
  check: nullable(
    Type.Enum([...CHECK_NAMES], { description: 'How the check digit is made; null: it has none.' })
  )
}
/** What an address is made of: nothing that would have to be escaped anywhere. */
const SIGNS = '[A-Za-z0-9._~:/?#@!$&()*+,;=%-]*'
const fields = {
  name: line(100, 'What buyers read.'),
  tracking_url: Type.Optional(
    nullable(
      Type.String({
        maxLength: 500,
        description:
          'Where the carrier says where a parcel is, with {tracking_number} in the place of the number.',
        ...matching(
          `^https://[A-Za-z0-9.-]+(:[0-9]+)?/${SIGNS}\\{tracking_number\\}${SIGNS}$`,
          'must be an https address with {tracking_number} behind its host'
        )
      })
    )
  ),
  number_rules: Type.Optional(
    Type.Array(input(NumberRule), {
      description: 'Its numbers are like one of these; none: like anything.',
      maxItems: RULES_MAX
    })
  )
}
export const CreateCarrierRequest = request('CreateCarrierRequest', {
  code: Type.String({
    maxLength: 40,
    ...matching('^[a-z0-9][a-z0-9-]{0,39}$', 'must be a word of a to z, 0 to 9 and -'),
    description: 'A word of your own; it stays.'
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
