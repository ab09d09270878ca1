import { AMOUNT_MAX, currencyDecimalPlaces } from '../../../kernel/money.ts'
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

export const SHIPPING_RATES_PER_SHOP_MAX = 5_000
const STEPS_MAX = 100

export const ShippingRateQuery = input({
  ...pageQuery,
  method_id: Type.Optional(Id),
  zone_id: Type.Optional(Id),
  currency: Type.Optional(Type.Enum(Object.keys(currencyDecimalPlaces)))
})
export type ShippingRateQuery = Static<typeof ShippingRateQuery>

const By = Type.Enum(['weight', 'value', 'items'], {
  description: 'What the steps measure: grams, minor units of the value after discounts, or units.'
})
const UP_TO = 'Upper bound of the step, inclusive. Null, on the last step only: no bound.'
const ShippingPriceTableRequest = input({
  by: By,
  steps: Type.Array(
    input({
      up_to: nullable(Type.Integer({ description: UP_TO, minimum: 0, maximum: AMOUNT_MAX })),
      amount: Amount
    }),
    {
      description: 'Steps in rising order. The method is not offered beyond the last bound.',
      minItems: 1,
      maxItems: STEPS_MAX
    }
  )
})
export type ShippingPriceTableRequest = Static<typeof ShippingPriceTableRequest>

const FREE_FROM = 'Value of the goods after discounts from which delivery is free.'
const fields = {
  method_id: Id,
  zone_id: Type.Optional(nullable(Id)),
  currency: Type.Optional(
    Type.Enum(Object.keys(currencyDecimalPlaces), {
      description: 'Currency code (ISO 4217). Default: the currency of the shop.'
    })
  ),
  free_from: Type.Optional(nullable({ ...Amount, description: FREE_FROM }))
}
export const CreateShippingRateRequest = Type.Union(
  [input({ ...fields, amount: Amount }), input({ ...fields, table: ShippingPriceTableRequest })],
  {
    title: 'CreateShippingRateRequest',
    description:
      'Either `amount` or `table`. A method of kind `shipping` needs a rate per zone; `pickup` and `digital` methods need one without a zone.'
  }
)
export type CreateShippingRateRequest = Static<typeof CreateShippingRateRequest>

const PRICE = { amount: Amount, table: ShippingPriceTableRequest }
export const UpdateShippingRateRequest = patchRequest(
  'UpdateShippingRateRequest',
  { ...PRICE, free_from: fields.free_from },
  {
    description: 'Sending `table` replaces `amount`, and the reverse.',
    not: { properties: PRICE, required: Object.keys(PRICE) }
  }
)
export type UpdateShippingRateRequest = Static<typeof UpdateShippingRateRequest>

export const ShippingRateResponse = response('ShippingRateResponse', {
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
export type ShippingRateResponse = Static<typeof ShippingRateResponse>
