import { countryCodes } from '../../../kernel/countries.ts'
import { AMOUNT_MAX } from '../../../kernel/money.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import { Amount, amount, Currency, Id, input, line, nullable, response } from '../../../kernel/wire.ts'
import { EstimatedDeliveryDaysSchema, ShippingMethodKindSchema } from '../methods/schema.ts'

const ITEMS_MAX = 200
const QUANTITY_MAX = 1_000_000

const destination = input({
  country: Type.Enum(countryCodes, { description: 'Two-letter country code (ISO 3166-1).' }),
  region: Type.Optional(nullable(line(64, 'Code or name of the region (ISO 3166-2): CA or California.'))),
  postal_code: Type.Optional(nullable(line(32, 'Postal code, or its first part.')))
})
export const ShippingRatesRequest = Type.Union(
  [
    input({
      items: Type.Array(
        input({ variant_id: Id, quantity: Type.Integer({ minimum: 1, maximum: QUANTITY_MAX }) }),
        { minItems: 1, maxItems: ITEMS_MAX }
      ),
      destination
    }),
    input({
      weight_grams: Type.Integer({ minimum: 0, maximum: AMOUNT_MAX }),
      value: {
        ...Amount,
        description: 'Value of the goods, in minor units of the market’s currency.'
      },
      destination
    })
  ],
  {
    title: 'ShippingRatesRequest',
    description:
      'Either variants with quantities, at current prices, or the weight and the value of one item.'
  }
)
export type ShippingRatesRequest = Static<typeof ShippingRatesRequest>

export const ShippingRatesResponse = response('ShippingRatesResponse', {
  rates: Type.Array(
    Type.Object({
      id: Type.String({
        description: 'Send it as `shipping_option`. It stays the same when the amount changes.'
      }),
      method: ShippingMethodKindSchema,
      provider: nullable(Type.String({ description: 'Name of the carrier.' })),
      service: Type.String(),
      amount: amount(),
      currency: Currency,
      estimated_days: nullable(EstimatedDeliveryDaysSchema)
    }),
    { description: 'Options, cheapest first. Empty: the shop does not deliver there.' }
  )
})
export type ShippingRatesResponse = Static<typeof ShippingRatesResponse>
