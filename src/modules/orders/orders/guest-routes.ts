import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { Type } from '../../../kernel/schema.ts'
import { IdParams, marketParameters, withResponseDescription } from '../../../kernel/wire.ts'
import { guestBuyerOfRequest } from '../buyers/routes.ts'
import {
  CompleteCheckoutRequest,
  PlaceGuestOrderRequest,
  placeOrderInputOfRequest
} from '../checkouts/place-order.ts'
import { orderCancelingRequestCost, orderReadingRequestCost } from './routes.ts'
import { GuestOrderResponse, OrderResponse } from './schema.ts'
import type { OrderService } from './service.ts'

const TOKEN = 'x-order-token'
const tags = ['guest orders']
export const GuestOrderHeaders = Type.Object({
  [TOKEN]: Type.Optional(
    Type.String({ description: 'The `order_token` of the response that created the order.' })
  )
})

/** Routes of orders without an account. The order token proves access. */
export function guestOrderRoutes(tiers: Tiers, orders: OrderService, perMinute: number): void {
  tiers.public.post(
    '/orders/guest',
    {
      config: { class: 'checkout', secret: 'any', unversioned: true, limit: { name: 'order', perMinute } },
      schema: {
        ...marketParameters,
        tags,
        summary: 'Create a guest order',
        description:
          'Creates an order from `items` or from a guest cart, reserves its stock, and starts the payment in `payment`. Store the `order_token`: every later request needs it as `X-Order-Token`. 400 `ORDER_INCOMPLETE`: `errors` name the missing or invalid fields. 409 `ORDER_PRICE_CHANGED`: show the new price in `quote` and send its total as `expected_total`. 409 `INVENTORY_SHORT` or `ORDER_ITEMS_UNAVAILABLE`: `items` name the affected lines. 409 `SHIPPING_NOT_AVAILABLE`, `ORDER_CODE_REFUSED` or `ORDER_PENDING_LIMIT`: choose another option, remove the codes, or pay an open order.',
        body: PlaceGuestOrderRequest,
        response: {
          200: withResponseDescription(
            GuestOrderResponse,
            'The order that an earlier request created from the same guest cart. Nothing was ordered twice.'
          ),
          201: withResponseDescription(GuestOrderResponse, 'The new order.')
        }
      }
    },
    async (request, reply) => {
      const { order, orderToken, isNew } = await orders.place(
        guestBuyerOfRequest(request),
        placeOrderInputOfRequest(request),
        writeOf(request)
      )
      return reply
        .code(isNew ? 201 : 200)
        .header('etag', `"${order.version}"`)
        .send({ order_token: orderToken ?? '', ...order })
    }
  )

  tiers.public.post(
    '/checkouts/guest/:id/complete',
    {
      config: { class: 'checkout', secret: 'any', limit: { name: 'order', perMinute } },
      schema: {
        tags: ['guest checkouts'],
        summary: 'Complete a guest checkout',
        description:
          'Creates an order from the checkout of `X-Checkout-Token`, at the price of its last write or at `expected_total`. Store the `order_token`: later requests need it as `X-Order-Token`. 400 `ORDER_INCOMPLETE`: `errors` name the missing or invalid fields. 409 `ORDER_PRICE_CHANGED`: show the new price in `quote` and send its total as `expected_total`. 409 `INVENTORY_SHORT` or `ORDER_ITEMS_UNAVAILABLE`: `items` name the affected lines. 409 `SHIPPING_NOT_AVAILABLE`, `ORDER_CODE_REFUSED` or `ORDER_PENDING_LIMIT`: choose another option, remove the codes, or pay an open order.',
        params: IdParams,
        headers: Type.Object({
          'x-checkout-token': Type.Optional(
            Type.String({ description: 'The `checkout_token` of the checkout.' })
          )
        }),
        body: CompleteCheckoutRequest,
        response: {
          200: withResponseDescription(
            GuestOrderResponse,
            'The order that an earlier request created from the same checkout. Nothing was ordered twice.'
          ),
          201: withResponseDescription(GuestOrderResponse, 'The new order.')
        }
      }
    },
    async (request, reply) => {
      const { order, orderToken, isNew } = await orders.complete(
        guestBuyerOfRequest(request, 'x-checkout-token'),
        request.params.id,
        request.body,
        writeOf(request)
      )
      return reply
        .code(isNew ? 201 : 200)
        .header('etag', `"${order.version}"`)
        .send({ order_token: orderToken ?? '', ...order })
    }
  )

  tiers.public.get(
    '/orders/guest/:id',
    {
      config: orderReadingRequestCost,
      schema: {
        tags,
        summary: 'Retrieve a guest order',
        description:
          'Returns the order that `X-Order-Token` belongs to, with items, amounts, shipments and history. `next_actions` lists what the guest can do now. 404 `ORDER_NOT_FOUND`: the token is missing or wrong, or the order joined an account.',
        params: IdParams,
        headers: GuestOrderHeaders,
        response: { 200: OrderResponse }
      }
    },
    request => orders.read(guestBuyerOfRequest(request, TOKEN), request.params.id)
  )

  tiers.public.post(
    '/orders/guest/:id/cancel',
    {
      config: orderCancelingRequestCost,
      schema: {
        tags,
        summary: 'Cancel a guest order',
        description:
          'Cancels a guest order that is not shipped and whose state the setting `orders.customer_cancel` allows. Needs `X-Order-Token`. Nothing more is captured from now on, authorized payments are voided, and captured money is refunded. 202: a payment provider has not confirmed yet; read the order until `cancel_requested_at` is null. 409 `ORDER_NOT_CANCELABLE`: `reason` states why, such as `shipped`, `paid` or `policy`.',
        params: IdParams,
        headers: GuestOrderHeaders,
        response: {
          200: withResponseDescription(OrderResponse, 'The order is canceled.'),
          202: withResponseDescription(
            OrderResponse,
            'The cancellation is requested. A payment provider has not confirmed it yet.'
          )
        }
      }
    },
    async (request, reply) => {
      const order = await orders.cancel(
        guestBuyerOfRequest(request, TOKEN),
        request.params.id,
        writeOf(request)
      )
      return reply
        .code(order.cancel_requested_at === null ? 200 : 202)
        .header('etag', `"${order.version}"`)
        .send(order)
    }
  )
}
