import { AMOUNT_MAX, currencies } from '../../../kernel/money.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import {
  Amount,
  amount,
  Currency,
  Id,
  input,
  nullable,
  pageQuery,
  patchRequest,
  response,
  Time,
  Version
} from '../../../kernel/wire.ts'

export const RATES_MAX = 5_000
const STEPS_MAX = 100

export const RateQuery = input({
  ...pageQuery,
  method_id: Type.Optional(Id),
  zone_id: Type.Optional(Id),
  currency: Type.Optional(Type.Enum(Object.keys(currencies)))
})
export type RateQuery = Static<typeof RateQuery>

const By = Type.Enum(['weight', 'value', 'items'], {
  description: 'Grams, minor units of what is sent after discounts, or pieces.'
})
const UP_TO = 'Up to and with so much; null, on the last step alone: however much.'
const AmountTable = input({
  by: By,
  steps: Type.Array(
    input({
      up_to: nullable(Type.Integer({ description: UP_TO, minimum: 0, maximum: AMOUNT_MAX })),
      amount: Amount
    }),
    {
      description: 'From low to high. What is beyond the last one is not sent this way.',
      minItems: 1,
      maxItems: STEPS_MAX
    }
  )
})
export type AmountTable = Static<typeof AmountTable>

const FREE_FROM = 'From this value of what is sent on, after discounts, it costs nothing.'
const fields = {
  method_id: Id,
  zone_id: Type.Optional(nullable(Id)),
  currency: Type.Optional(
    Type.Enum(Object.keys(currencies), { description: 'ISO 4217. By default that of the shop.' })
  ),
  free_from: Type.Optional(nullable({ ...Amount, description: FREE_FROM }))
}
export const CreateRateRequest = Type.Union(
  [input({ ...fields, amount: Amount }), input({ ...fields, table: AmountTable })],
  {
    title: 'CreateShippingRateRequest',
    description:
      'Either one amount or a table. Methods of kind shipping have a rate for each zone where they are offered; pickup and digital ones have one without a zone.'
  }
)
export type CreateRateRequest = Static<typeof CreateRateRequest>

const PRICE = { amount: Amount, table: AmountTable }
export const UpdateRateRequest = patchRequest(
  'UpdateShippingRateRequest',
  { ...PRICE, free_from: fields.free_from },
  {
    description: 'Sending the other of amount and table changes the kind of rate.',
    not: { properties: PRICE, required: Object.keys(PRICE) }
  }
)
export type UpdateRateRequest = Static<typeof UpdateRateRequest>

export const RateResponse = response('ShippingRateResponse', {
  id: Id,
  method_id: Id,
  zone_id: nullable(Id),
  currency: Currency,
  amount: nullable(amount()),
  table: nullable(
    Type.Object({
      by: By,
      steps: Type.Array(
        Type.Object({ up_to: nullable(Type.Integer({ description: UP_TO })), amount: amount() })
      )
    })
  ),
  free_from: nullable(amount(FREE_FROM.replace(/\.$/, ''))),
  version: Version,
  created_at: Time
})
export type RateResponse = Static<typeof RateResponse>
