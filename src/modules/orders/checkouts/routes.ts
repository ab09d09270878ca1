import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { createRunWithoutRequestSlot, writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, marketParameters } from '../../../kernel/wire.ts'
import { customerBuyerOfRequest } from '../buyers/routes.ts'
import { placeOrderInputOfRequest } from './place-order.ts'
import { CheckoutRequest, CheckoutResponse } from './schema.ts'
import type { CheckoutService } from './service.ts'

/** Measured: a checkout of 200 lines costs as much as eight writes to a cart. */
const config = { class: 'checkout', countsAs: 5 } as const
const own = { params: IdParams, response: { 200: CheckoutResponse } }

/**
 * A write names the market of a checkout. A read does not, because the checkout keeps it. `perMinute`: new checkouts
 * per minute of a client.
 */
export function checkoutRoutes(tiers: Tiers, checkouts: CheckoutService, perMinute: number): void {
  tiers.secured.post(
    '/checkouts',
    {
      config: { ...config, limit: { name: 'checkout', perMinute } },
      schema: {
        ...marketParameters,
        summary: 'Create a checkout',
        description:
          "Creates a checkout from `items` or, with `cart: true`, from the customer's cart, and returns its price. A checkout reserves no stock. `findings` list what is wrong or missing; the checkout is `ready` when none is `blocking`. 400 `CHECKOUT_SOURCE_UNCLEAR`: send either `items` or `cart`. 409 `CART_EMPTY`: the cart has no items. 429 `CHECKOUT_CODES_LIMITED`: too many unknown promotion codes; wait, or omit `codes`.",
        body: CheckoutRequest,
        response: { 201: CheckoutResponse }
      }
    },
    async request =>
      (
        await checkouts.begin(
          customerBuyerOfRequest(request),
          placeOrderInputOfRequest(request),
          writeOf(request)
        )
      ).checkout
  )

  tiers.secured.get(
    '/checkouts/:id',
    {
      config,
      schema: {
        ...own,
        summary: 'Retrieve a checkout',
        description:
          "Returns a checkout of the customer, with prices calculated for this request. `findings` contain `PRICE_CHANGED` when the total changed since the last write. An expired checkout stays readable for an hour. After that, and for another customer's checkout, the response is 404 `CHECKOUT_NOT_FOUND`."
      }
    },
    request =>
      checkouts.read(customerBuyerOfRequest(request), request.params.id, {
        withoutSlot: createRunWithoutRequestSlot(request)
      })
  )

  tiers.secured.put(
    '/checkouts/:id',
    {
      config,
      schema: {
        ...marketParameters,
        ...own,
        summary: 'Update a checkout',
        description:
          'Replaces every field of an open checkout: a field that you omit is removed. Only `metadata` is merged: omitted keys stay, null deletes a key. Send the whole form after each step. Returns the checkout with its new price and `findings`. 409 `CHECKOUT_COMPLETED`: it became the order in `order_id`. 409 `CHECKOUT_EXPIRED` or `CHECKOUT_CANCELED`: create a new checkout. 412 `CHECKOUT_STALE`: read the checkout again.',
        body: CheckoutRequest
      }
    },
    request =>
      checkouts.update(
        customerBuyerOfRequest(request),
        request.params.id,
        placeOrderInputOfRequest(request),
        writeOf(request)
      )
  )

  tiers.secured.post(
    '/checkouts/:id/cancel',
    {
      config,
      schema: {
        ...own,
        summary: 'Cancel a checkout',
        description:
          'Cancels an open checkout, which can no longer be changed or completed. Canceling it again returns the same checkout. 409 `CHECKOUT_COMPLETED`: it became an order; cancel that order instead. 409 `CHECKOUT_EXPIRED`: there is nothing to cancel.'
      }
    },
    request => checkouts.cancel(customerBuyerOfRequest(request), request.params.id, writeOf(request))
  )
}
