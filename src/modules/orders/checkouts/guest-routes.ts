import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { createRunWithoutRequestSlot, writeOf } from '../../../gateway/writes/write.ts'
import { Type } from '../../../kernel/schema.ts'
import { IdParams, MarketHeaders, MarketQuery } from '../../../kernel/wire.ts'
import { guestBuyerOfRequest } from '../buyers/routes.ts'
import { placeOrderInputOfRequest } from './place-order.ts'
import { CheckoutResponse, GuestCheckoutRequest, NewGuestCheckoutResponse } from './schema.ts'
import type { CheckoutService } from './service.ts'

const TOKEN = 'x-checkout-token'
/** Measured: a checkout of 200 lines costs as much as eight writes to a cart. */
const config = { class: 'checkout', countsAs: 5 } as const
const tags = ['guest checkouts']
const GuestHeaders = Type.Object({
  [TOKEN]: Type.Optional(
    Type.String({ description: 'The `checkout_token` of the response that created the checkout.' })
  )
})
const own = { tags, params: IdParams, headers: GuestHeaders, response: { 200: CheckoutResponse } }

/** Routes of checkouts without an account. The checkout token proves access. */
export function guestCheckoutRoutes(tiers: Tiers, checkouts: CheckoutService, perMinute: number): void {
  tiers.public.post(
    '/checkouts/guest',
    {
      config: { ...config, secret: 201, limit: { name: 'checkout', perMinute } },
      schema: {
        tags,
        summary: 'Create a guest checkout',
        description:
          'Creates a checkout without an account, from `items` or from the guest cart of `guest_cart_token`. Store the `checkout_token` of the response: every later request needs it as `X-Checkout-Token`. A checkout reserves no stock. 400 `CHECKOUT_SOURCE_UNCLEAR`: send either `items` or `guest_cart_token`. 404 `CART_GUEST_NOT_FOUND`: the cart token is unknown, expired or used. 409 `CART_EMPTY`: the cart has no items.',
        querystring: MarketQuery,
        headers: MarketHeaders,
        body: GuestCheckoutRequest,
        response: { 201: NewGuestCheckoutResponse }
      }
    },
    async request => {
      const begun = await checkouts.begin(
        guestBuyerOfRequest(request),
        placeOrderInputOfRequest(request),
        writeOf(request)
      )
      return { checkout_token: begun.checkoutToken ?? '', ...begun.checkout }
    }
  )

  tiers.public.get(
    '/checkouts/guest/:id',
    {
      config,
      schema: {
        ...own,
        summary: 'Retrieve a guest checkout',
        description:
          'Returns the checkout that `X-Checkout-Token` belongs to, with prices calculated for this request. `findings` contain `PRICE_CHANGED` when the total changed since the last write. 404 `CHECKOUT_NOT_FOUND`: the token is missing or wrong, or the checkout expired more than an hour ago.'
      }
    },
    request =>
      checkouts.read(guestBuyerOfRequest(request, TOKEN), request.params.id, {
        withoutSlot: createRunWithoutRequestSlot(request)
      })
  )

  tiers.public.put(
    '/checkouts/guest/:id',
    {
      config,
      schema: {
        ...own,
        summary: 'Update a guest checkout',
        description:
          'Replaces every field of an open guest checkout: a field that you omit is removed. Only `metadata` is merged: omitted keys stay, null deletes a key. Needs `X-Checkout-Token`. Returns the checkout with its new price and `findings`. 409 `CHECKOUT_COMPLETED`: it became the order in `order_id`. 409 `CHECKOUT_EXPIRED` or `CHECKOUT_CANCELED`: create a new checkout. 412 `CHECKOUT_STALE`: read the checkout again.',
        querystring: MarketQuery,
        headers: Type.Object({ ...MarketHeaders.properties, ...GuestHeaders.properties }),
        body: GuestCheckoutRequest
      }
    },
    request =>
      checkouts.update(
        guestBuyerOfRequest(request, TOKEN),
        request.params.id,
        placeOrderInputOfRequest(request),
        writeOf(request)
      )
  )

  tiers.public.post(
    '/checkouts/guest/:id/cancel',
    {
      config,
      schema: {
        ...own,
        summary: 'Cancel a guest checkout',
        description:
          'Cancels an open guest checkout, which can no longer be changed or completed. Needs `X-Checkout-Token`. Canceling it again returns the same checkout. 409 `CHECKOUT_COMPLETED`: it became an order; cancel that order instead. 409 `CHECKOUT_EXPIRED`: there is nothing to cancel.'
      }
    },
    request => checkouts.cancel(guestBuyerOfRequest(request, TOKEN), request.params.id, writeOf(request))
  )
}
