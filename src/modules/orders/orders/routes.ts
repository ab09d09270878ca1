import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import {
  IdParams,
  listOf,
  marketParameters,
  PageQuery,
  withResponseDescription
} from '../../../kernel/wire.ts'
import { customerBuyerOfRequest } from '../buyers/routes.ts'
import { CompleteCheckoutRequest, OrderRequest, placeOrderInputOfRequest } from '../checkouts/place-order.ts'
import { OrderResponse, OrderSummaryResponse } from './schema.ts'
import type { OrderService } from './service.ts'

const config = { class: 'checkout' } as const
/**
 * Measured for 200 lines: reading an order costs as much as six writes to a cart, canceling it as much as 15
 * to 23.
 */
export const orderReadingRequestCost = { class: 'checkout', countsAs: 5 } as const
export const orderCancelingRequestCost = { class: 'checkout', countsAs: 20 } as const

/** `perMinute`: new orders per minute of a client. */
export function orderRoutes(tiers: Tiers, orders: OrderService, perMinute: number): void {
  tiers.secured.post(
    '/orders',
    {
      config: { ...config, unversioned: true, limit: { name: 'order', perMinute } },
      schema: {
        ...marketParameters,
        summary: 'Create an order',
        description:
          'Creates an order from `items` or, without `items`, from the customer’s cart, which is emptied. The order reserves its stock and starts the payment in `payment`; a refused order changes nothing. 400 `ORDER_INCOMPLETE`: `errors` name the missing or invalid fields. 409 `ORDER_PRICE_CHANGED`: show the new price in `quote` and send its total as `expected_total`. 409 `INVENTORY_SHORT` or `ORDER_ITEMS_UNAVAILABLE`: `items` name the affected lines. 409 `SHIPPING_NOT_AVAILABLE`, `ORDER_CODE_REFUSED` or `ORDER_PENDING_LIMIT`: choose another option, remove the codes, or pay an open order.',
        body: OrderRequest,
        response: {
          200: withResponseDescription(
            OrderResponse,
            'The order that an earlier request created from the same cart. Nothing was ordered twice.'
          ),
          201: withResponseDescription(OrderResponse, 'The new order.')
        }
      }
    },
    async (request, reply) => {
      const { order, isNew } = await orders.place(
        customerBuyerOfRequest(request),
        placeOrderInputOfRequest(request),
        writeOf(request)
      )
      return reply
        .code(isNew ? 201 : 200)
        .header('etag', `"${order.version}"`)
        .send(order)
    }
  )

  tiers.secured.post(
    '/checkouts/:id/complete',
    {
      config: { ...config, limit: { name: 'order', perMinute } },
      schema: {
        summary: 'Complete a checkout',
        description:
          'Creates an order from a checkout of the customer, at the price of its last write. Send `expected_total` to accept a newer price. 400 `ORDER_INCOMPLETE`: `errors` name the missing or invalid fields. 409 `ORDER_PRICE_CHANGED`: show the new price in `quote` and send its total as `expected_total`. 409 `INVENTORY_SHORT` or `ORDER_ITEMS_UNAVAILABLE`: `items` name the affected lines. 409 `SHIPPING_NOT_AVAILABLE`, `ORDER_CODE_REFUSED` or `ORDER_PENDING_LIMIT`: choose another option, remove the codes, or pay an open order.',
        params: IdParams,
        body: CompleteCheckoutRequest,
        response: {
          200: withResponseDescription(
            OrderResponse,
            'The order that an earlier request created from the same checkout. Nothing was ordered twice.'
          ),
          201: withResponseDescription(OrderResponse, 'The new order.')
        }
      }
    },
    async (request, reply) => {
      const { order, isNew } = await orders.complete(
        customerBuyerOfRequest(request),
        request.params.id,
        request.body,
        writeOf(request)
      )
      return reply
        .code(isNew ? 201 : 200)
        .header('etag', `"${order.version}"`)
        .send(order)
    }
  )

  tiers.secured.get(
    '/orders',
    {
      config: { class: 'account' },
      schema: {
        summary: "List the caller's orders",
        description:
          'Returns a page of the customer’s orders, newest first, without their items. Retrieve an order to see its items and shipments.',
        querystring: PageQuery,
        response: { 200: listOf(OrderSummaryResponse) }
      }
    },
    request => orders.list(customerBuyerOfRequest(request), request.query)
  )

  tiers.secured.get(
    '/orders/:id',
    {
      config: orderReadingRequestCost,
      schema: {
        summary: "Retrieve the caller's order",
        description:
          'Returns an order of the customer, with items, amounts, shipments and history. `next_actions` lists what the customer can do now. 404 `ORDER_NOT_FOUND`: the order does not exist or belongs to another buyer.',
        params: IdParams,
        response: { 200: OrderResponse }
      }
    },
    request => orders.read(customerBuyerOfRequest(request), request.params.id)
  )

  tiers.secured.post(
    '/orders/:id/cancel',
    {
      config: orderCancelingRequestCost,
      schema: {
        summary: "Cancel the caller's order",
        description:
          'Cancels an order of the customer that is not shipped and whose state the setting `orders.customer_cancel` allows. Nothing more is captured from now on, authorized payments are voided, and captured money is refunded. 202: a payment provider has not confirmed yet; read the order until `cancel_requested_at` is null. 409 `ORDER_NOT_CANCELABLE`: `reason` states why, such as `shipped`, `paid` or `policy`. Canceling it again returns the same order.',
        params: IdParams,
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
      const order = await orders.cancel(customerBuyerOfRequest(request), request.params.id, writeOf(request))
      return reply
        .code(order.cancel_requested_at === null ? 200 : 202)
        .header('etag', `"${order.version}"`)
        .send(order)
    }
  )
}
