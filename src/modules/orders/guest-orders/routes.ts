import type { FastifyRequest } from 'fastify'
import { byAddress } from '../../../gateway/callers/rate-limits.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { Type } from '../../../kernel/schema.ts'
import { IdParams, inMarket, marketNamed } from '../../../kernel/wire.ts'
import type { Claim } from '../guest/service.ts'
import { canceling, type OrderLimits, reading } from '../orders/routes.ts'
import {
  CompleteCheckoutRequest,
  GuestOrderRequest,
  GuestOrderResponse,
  OrderResponse
} from '../orders/schema.ts'
import type { GuestOrderService } from './service.ts'

const TOKEN = 'x-order-token'
const tags = ['guest orders']
export const GuestHeaders = Type.Object({
  [TOKEN]: Type.Optional(Type.String({ description: 'The token that the order was answered with.' }))
})

/** Orders of somebody without an account. */
export function guestOrderRoutes(
  tiers: Tiers,
  guests: GuestOrderService,
  { perMinute, guesses }: OrderLimits
): void {
  tiers.public.post(
    '/orders/guest',
    {
      config: { class: 'checkout', secret: 'any', unversioned: true, limit: { name: 'order', perMinute } },
      schema: {
        ...inMarket,
        tags,
        summary: 'Order items, or what is in a guest cart, without an account',
        description: '200: another request has ordered the same cart before; it is that order.',
        body: GuestOrderRequest,
        response: { 200: GuestOrderResponse, 201: GuestOrderResponse }
      }
    },
    async (request, reply) => {
      const address = byAddress(request)
      const ordered = { body: request.body, market: marketNamed(request) ?? null, address }
      const { order, isNew } = await guesses(address, request.body, () =>
        guests.create(ordered, writeOf(request))
      )
      return reply
        .code(isNew ? 201 : 200)
        .header('etag', `"${order.version}"`)
        .send(order)
    }
  )

  tiers.public.post(
    '/checkouts/guest/:id/complete',
    {
      config: { class: 'checkout', secret: 'any', limit: { name: 'order', perMinute } },
      schema: {
        tags: ['guest checkouts'],
        summary: 'Order what the checkout says',
        description: '200: it was ordered before; it is that order.',
        params: IdParams,
        headers: Type.Object({ 'x-checkout-token': Type.Optional(Type.String()) }),
        body: CompleteCheckoutRequest,
        response: { 200: GuestOrderResponse, 201: GuestOrderResponse }
      }
    },
    async (request, reply) => {
      const claim = { id: request.params.id, token: request.headers['x-checkout-token'] }
      const completed = { body: request.body, address: byAddress(request) }
      const { order, isNew } = await guests.complete(claim, completed, writeOf(request))
      return reply
        .code(isNew ? 201 : 200)
        .header('etag', `"${order.version}"`)
        .send(order)
    }
  )

  tiers.public.get(
    '/orders/guest/:id',
    {
      config: reading,
      schema: {
        tags,
        summary: 'The order that a token is of',
        params: IdParams,
        headers: GuestHeaders,
        response: { 200: OrderResponse }
      }
    },
    request => guests.read(claimOf(request, request.params.id))
  )

  tiers.public.post(
    '/orders/guest/:id/cancel',
    {
      config: canceling,
      schema: {
        tags,
        summary: 'Cancel the order that a token is of',
        description: '202: it is not known yet whether its payment can still be let go of; ask again.',
        params: IdParams,
        headers: GuestHeaders,
        response: { 200: OrderResponse, 202: OrderResponse }
      }
    },
    async (request, reply) => {
      const order = await guests.cancel(claimOf(request, request.params.id), writeOf(request))
      return reply
        .code(order.cancel_requested_at === null ? 200 : 202)
        .header('etag', `"${order.version}"`)
        .send(order)
    }
  )
}

/** What a request says of an order, and what proves it. */
export const claimOf = ({ headers }: Pick<FastifyRequest, 'headers'>, id: string): Claim => ({
  id,
  token: headers[TOKEN] as string | undefined
})
