import type { FastifyRequest } from 'fastify'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { MarketQuery } from '../../../kernel/wire.ts'
import type { MarketOf } from '../../pricing/index.ts'
import { lineOf, sendCart } from '../carts/routes.ts'
import {
  AddItemRequest,
  CartCountResponse,
  GuestCartResponse,
  GuestHeaders,
  ItemParams,
  UpdateItemRequest
} from '../carts/schema.ts'
import type { Guest, GuestCartService } from './service.ts'

const TOKEN = 'x-guest-cart-token'
const config = { class: 'account' } as const
const common = { tags: ['guest cart'], headers: GuestHeaders, querystring: MarketQuery }
const response = { 200: GuestCartResponse }

/** The cart of somebody without an account: the verbs of the cart, for the holder of a token. */
export function guestCartRoutes(
  tiers: Tiers,
  guests: GuestCartService,
  marketOf: MarketOf,
  perMinute: number
): void {
  const guestOf = async (request: FastifyRequest): Promise<Guest> => ({
    token: request.headers[TOKEN] as string | undefined,
    market: await marketOf(request)
  })
  tiers.public.post(
    '/guest-cart',
    {
      config: { ...config, secret: 201, limit: { name: 'guest_cart', perMinute, without: TOKEN } },
      schema: {
        ...common,
        summary: 'Add a variant; without a token, make a cart for it',
        body: AddItemRequest,
        response: { 200: GuestCartResponse, 201: GuestCartResponse }
      }
    },
    async (request, reply) => {
      const guest = await guestOf(request)
      const line = lineOf(request.body)
      if (guest.token !== undefined)
        return sendCart(reply, await guests.addItem(guest, line, writeOf(request)))
      const created = await guests.create(guest.market, line, writeOf(request))
      return sendCart(reply.code(201), created.view, `"guest_cart_token":"${created.token}",`)
    }
  )

  tiers.public.get(
    '/guest-cart',
    { config, schema: { ...common, summary: 'The cart', response } },
    async (request, reply) => sendCart(reply, await guests.view(await guestOf(request)))
  )

  tiers.public.get(
    '/guest-cart/count',
    {
      config,
      schema: { ...common, summary: 'How many items the cart holds', response: { 200: CartCountResponse } }
    },
    request => guests.count(request.headers[TOKEN])
  )

  tiers.public.put(
    '/guest-cart/items/:variantId',
    {
      config,
      schema: { ...common, summary: 'Set a quantity', params: ItemParams, body: UpdateItemRequest, response }
    },
    async (request, reply) => {
      const line = lineOf({ variant_id: request.params.variantId, ...request.body })
      return sendCart(reply, await guests.updateItem(await guestOf(request), line, writeOf(request)))
    }
  )

  tiers.public.delete(
    '/guest-cart/items/:variantId',
    { config, schema: { ...common, summary: 'Remove an item', params: ItemParams, response } },
    async (request, reply) => {
      const { variantId } = request.params
      return sendCart(reply, await guests.removeItem(await guestOf(request), variantId, writeOf(request)))
    }
  )

  tiers.public.delete(
    '/guest-cart',
    { config, schema: { ...common, summary: 'Empty it', response } },
    async (request, reply) => sendCart(reply, await guests.clear(await guestOf(request), writeOf(request)))
  )
}
