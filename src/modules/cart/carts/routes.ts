import type { FastifyReply, FastifyRequest } from 'fastify'
import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { inMarket } from '../../../kernel/wire.ts'
import type { MarketOf } from '../../pricing/index.ts'
import type { Line } from './lines.ts'
import { AddItemRequest, CartCountResponse, CartResponse, ItemParams, UpdateItemRequest } from './schema.ts'
import type { CartService, Customer } from './service.ts'
import { type CartView, cartJson } from './view.ts'

const config = { class: 'account' } as const
const response = { 200: CartResponse }

/** The cart of the authenticated user (specification, "Secured routes"). */
export function cartRoutes(tiers: Tiers, cart: CartService, marketOf: MarketOf): void {
  const customerOf = async (request: FastifyRequest): Promise<Customer> => ({
    customerId: identityOf(request).userId,
    market: await marketOf(request)
  })
  const own = async (request: FastifyRequest) => cart.ownedBy(await customerOf(request))

  tiers.secured.get(
    '/cart',
    { config, schema: { ...inMarket, summary: 'The cart, with catalog data', response } },
    async (request, reply) => sendCart(reply, await cart.view(await customerOf(request)))
  )

  tiers.secured.get(
    '/cart/count',
    { config, schema: { summary: 'How many items the cart holds', response: { 200: CartCountResponse } } },
    request => cart.count(identityOf(request).userId)
  )

  tiers.secured.post(
    '/cart',
    { config, schema: { ...inMarket, summary: 'Add a variant', body: AddItemRequest, response } },
    async (request, reply) =>
      sendCart(reply, await cart.addItem(await own(request), lineOf(request.body), writeOf(request)))
  )

  tiers.secured.put(
    '/cart/items/:variantId',
    {
      config,
      schema: {
        ...inMarket,
        summary: 'Set the quantity of an item',
        params: ItemParams,
        body: UpdateItemRequest,
        response
      }
    },
    async (request, reply) => {
      const line = lineOf({ variant_id: request.params.variantId, ...request.body })
      return sendCart(reply, await cart.updateItem(await own(request), line, writeOf(request)))
    }
  )

  tiers.secured.delete(
    '/cart/items/:variantId',
    { config, schema: { ...inMarket, summary: 'Remove an item', params: ItemParams, response } },
    async (request, reply) => {
      const { variantId } = request.params
      return sendCart(reply, await cart.removeItem(await own(request), variantId, writeOf(request)))
    }
  )

  tiers.secured.delete(
    '/cart',
    { config, schema: { ...inMarket, summary: 'Empty the cart', response } },
    async (request, reply) => sendCart(reply, await cart.clear(await own(request), writeOf(request)))
  )
}

export const lineOf = ({ variant_id, quantity }: AddItemRequest): Line => ({
  variantId: variant_id,
  quantity
})

/** Sends a cart; `first` are members in front of its own, as JSON text. */
export const sendCart = (reply: FastifyReply, view: CartView, first = '') =>
  reply
    .header('etag', `"${view.version}"`)
    .header('content-type', 'application/json; charset=utf-8')
    .send(cartJson(view, first))
