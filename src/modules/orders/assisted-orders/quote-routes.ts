import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { createRunWithoutRequestSlot } from '../../../gateway/writes/write.ts'
import { marketParameters, requestedMarket } from '../../../kernel/wire.ts'
import { OrderQuoteRequest, OrderQuoteResponse } from './quote-schema.ts'
import type { OrderQuoteService } from './quote-service.ts'

export function orderQuoteRoutes(tiers: Tiers, quotes: OrderQuoteService): void {
  tiers.admin.post(
    '/admin/orders/quote',
    {
      config: { class: 'account', noReplay: 'it changes nothing' },
      schema: {
        ...marketParameters,
        summary: "Preview an order's price",
        description:
          'Calculates what a checkout, the cart of a customer, or `items` would cost. Nothing is stored. `findings` state what blocks an order, and why a promotion code has no effect. 400 `CHECKOUT_SOURCE_UNCLEAR`: send one source; `errors` name the conflicting fields. 404 `CHECKOUT_NOT_FOUND`: the checkout does not exist or was deleted. 409 `CART_EMPTY`: the cart has no items.',
        body: OrderQuoteRequest,
        response: { 200: OrderQuoteResponse }
      }
    },
    request => quotes.quote(request.body, requestedMarket(request), createRunWithoutRequestSlot(request))
  )
}
