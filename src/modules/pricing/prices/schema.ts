import { type Static, Type } from '../../../kernel/schema.ts'
import { Amount, amount, Id, input, pageQuery, request, response } from '../../../kernel/wire.ts'

const FROM = 'Minimum quantity for this price.'
const FromQuantity = Type.Integer({ description: FROM, minimum: 1, maximum: 1_000_000 })

/** Maximum number of prices in one request. */
const PRICES_AT_ONCE_MAX = 1_000
/** Maximum number of prices, by quantity, of one variant in a price list. */
export const PRICE_BREAKS_PER_VARIANT_MAX = 20

export const SetPricesRequest = request('SetPricesRequest', {
  prices: Type.Array(
    input({
      variant_id: Id,
      from_quantity: Type.Optional({ ...FromQuantity, default: 1 }),
      price: Amount
    }),
    { minItems: 1, maxItems: PRICES_AT_ONCE_MAX }
  )
})
export type SetPricesRequest = Static<typeof SetPricesRequest>

export const PriceListPricesQuery = input({ ...pageQuery, variant_id: Type.Optional(Id) })
export type PriceListPricesQuery = Static<typeof PriceListPricesQuery>

export const VariantPriceParams = input({ id: Id, variantId: Id })
export const DeletePricesQuery = input({ from_quantity: Type.Optional(FromQuantity) })

export const ListedPriceResponse = response('ListedPriceResponse', {
  variant_id: Id,
  from_quantity: Type.Integer({ description: FROM }),
  price: amount('Unit price from this quantity')
})
export type ListedPriceResponse = Static<typeof ListedPriceResponse>
