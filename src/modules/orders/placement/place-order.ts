import type { Static } from '../../../kernel/schema.ts'
import type { MarketRequest } from '../../../kernel/wire.ts'
import { input, requestedMarket } from '../../../kernel/wire.ts'
import { CheckoutRequest, GuestCheckoutRequest } from '../checkouts/schema.ts'
import { OrderRequest } from '../orders/schema.ts'

/** What a buyer wants to buy: for a checkout, an order, or the completion of a checkout. */
export const PlaceOrder = input({
  ...GuestCheckoutRequest.properties,
  ...CheckoutRequest.properties,
  ...OrderRequest.properties
})
/**
 * What a buyer wants to buy: for a checkout, an order, or the completion of a checkout. Its fields are those of the
 * bodies of `/api/checkouts` and `/api/orders`.
 */
export type PlaceOrder = Static<typeof PlaceOrder>

/** Returns the body of a request, and the market of its header or query unless the body names one. */
export function placeOrderOf<B extends object>(
  request: MarketRequest & { readonly body: B }
): B & Pick<PlaceOrder, 'market'> {
  const market = requestedMarket(request)
  return market === undefined ? request.body : { market, ...request.body }
}
