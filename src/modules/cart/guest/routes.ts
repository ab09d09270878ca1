import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { lineOf, sendCart } from '../carts/routes.ts'
import {
  AddItemRequest,
  CartCountResponse,
  GuestCartResponse,
  GuestHeaders,
  ItemParams,
  UpdateItemRequest
} from '../carts/schema.ts'
import type { GuestCartService } from './service.ts'

const TOKEN = 'x-guest-cart-token'
const config = { class: 'account' } as const
const common = { tags: ['guest cart'], headers: GuestHeaders }
const response = { 200: GuestCartResponse }

/** The cart of somebody without an account: the verbs of the cart, for the holder of a token. */
export function guestCartRoutes(tiers: Tiers, guests: GuestCartService, perMinute: number): void {
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
      const token = request.headers[TOKEN]
      const line = lineOf(request.body)
      if (token !== undefined) return sendCart(reply, await guests.addItem(token, line, writeOf(request)))
      const created = await guests.create(line, writeOf(request))
      return sendCart(reply.code(201), created.view, `"guest_cart_token":"${created.token}",`)
    }
  )

  tiers.public.get(
    '/guest-cart',
    { config, schema: { ...common, summary: 'The cart', response } },
    async (request, reply) => sendCart(reply, await guests.view(request.headers[TOKEN]))
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
      return sendCart(reply, await guests.updateItem(request.headers[TOKEN], line, writeOf(request)))
    }
  )

  tiers.public.delete(
    '/guest-cart/items/:variantId',
    { config, schema: { ...common, summary: 'Remove an item', params: ItemParams, response } },
    async (request, reply) => {
      const { variantId } = request.params
      return sendCart(reply, await guests.removeItem(request.headers[TOKEN], variantId, writeOf(request)))
    }
  )

  tiers.public.delete(
    '/guest-cart',
    { config, schema: { ...common, summary: 'Empty it', response } },
    async (request, reply) => sendCart(reply, await guests.clear(request.headers[TOKEN], writeOf(request)))
  )
}
