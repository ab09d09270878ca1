import { identityOf } from '../../../gateway/callers/identity.ts'
import { byAddress } from '../../../gateway/callers/rate-limits.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, inMarket, listOf, marketNamed, PageQuery } from '../../../kernel/wire.ts'
import type { Guesses } from '../checkouts/guesses.ts'
import { CompleteCheckoutRequest, OrderRequest, OrderResponse, OrderSummaryResponse } from './schema.ts'
import type { OrderService } from './service.ts'

/** `perMinute`: orders of a caller. `guesses`: what is told of codes. */
export type OrderLimits = { readonly perMinute: number; readonly guesses: Guesses }

const config = { class: 'checkout' } as const
/** An order of 200 lines: reading it costs as much as six writes to a cart, and canceling it as 15 to 23. */
export const reading = { class: 'checkout', countsAs: 5 } as const
export const canceling = { class: 'checkout', countsAs: 20 } as const

export function orderRoutes(tiers: Tiers, orders: OrderService, { perMinute, guesses }: OrderLimits): void {
  tiers.secured.post(
    '/orders',
    {
      config: { ...config, unversioned: true, limit: { name: 'order', perMinute } },
      schema: {
        ...inMarket,
        summary: 'Order items, or what is in the cart, which is empty then',
        description: '200: another request of the caller has ordered the same cart before; it is that order.',
        body: OrderRequest,
        response: { 200: OrderResponse, 201: OrderResponse }
      }
    },
    async (request, reply) => {
      const address = byAddress(request)
      const ordered = { body: request.body, market: marketNamed(request) ?? null, address }
      const { order, isNew } = await guesses(address, request.body, () =>
        orders.create(identityOf(request).userId, ordered, writeOf(request))
      )
      return reply
        .code(isNew ? 201 : 200)
        .header('etag', `"${order.version}"`)
        .send(orders.show(order))
    }
  )

  tiers.secured.post(
    '/checkouts/:id/complete',
    {
      config: { ...config, limit: { name: 'order', perMinute } },
      schema: {
        summary: 'Order what the checkout says',
        description: '200: it was ordered before; it is that order.',
        params: IdParams,
        body: CompleteCheckoutRequest,
        response: { 200: OrderResponse, 201: OrderResponse }
      }
    },
    async (request, reply) => {
      const completed = { id: request.params.id, body: request.body, address: byAddress(request) }
      const { order, isNew } = await orders.complete(identityOf(request).userId, completed, writeOf(request))
      return reply
        .code(isNew ? 201 : 200)
        .header('etag', `"${order.version}"`)
        .send(orders.show(order))
    }
  )

  tiers.secured.get(
    '/orders',
    {
      config: { class: 'account' },
      schema: {
        summary: 'The orders of the caller, the newest first',
        querystring: PageQuery,
        response: { 200: listOf(OrderSummaryResponse) }
      }
    },
    request => orders.list(identityOf(request).userId, request.query)
  )

  tiers.secured.get(
    '/orders/:id',
    {
      config: reading,
      schema: { summary: 'An order of the caller', params: IdParams, response: { 200: OrderResponse } }
    },
    request => orders.read(identityOf(request).userId, request.params.id)
  )

  tiers.secured.post(
    '/orders/:id/cancel',
    {
      config: canceling,
      schema: {
        summary: 'Cancel an order',
        description: '202: it is not known yet whether its payment can still be let go of; ask again.',
        params: IdParams,
        response: { 200: OrderResponse, 202: OrderResponse }
      }
    },
    async (request, reply) => {
      const order = await orders.cancel(identityOf(request).userId, request.params.id, writeOf(request))
      return reply
        .code(order.cancel_requested_at === null ? 200 : 202)
        .header('etag', `"${order.version}"`)
        .send(order)
    }
  )
}
