import type { FastifyReply } from 'fastify'
import { identityOf } from '../../gateway/identity.ts'
import type { Tiers } from '../../gateway/tiers.ts'
import { writeOf } from '../../gateway/write.ts'
import type { Line } from './lines.ts'
import { AddItemRequest, CartCountResponse, CartResponse, ItemParams, UpdateItemRequest } from './schema.ts'
import { type CartService, ownedBy } from './service.ts'
import { type CartView, cartJson } from './view.ts'

const tags = ['cart']
const response = { 200: CartResponse }

/** The cart of the authenticated user (specification, "Secured routes"). */
export function cartRoutes(tiers: Tiers, cart: CartService): void {
  tiers.secured.get(
    '/cart',
    { schema: { tags, summary: 'The cart, with catalog data', response } },
    async (request, reply) => sendCart(reply, await cart.view(identityOf(request).userId))
  )

  tiers.secured.get(
    '/cart/count',
    { schema: { tags, summary: 'How many items the cart holds', response: { 200: CartCountResponse } } },
    request => cart.count(identityOf(request).userId)
  )

  tiers.secured.post(
    '/cart',
    { schema: { tags, summary: 'Add a variant', body: AddItemRequest, response } },
    async (request, reply) =>
      sendCart(
        reply,
        await cart.addItem(ownedBy(identityOf(request).userId), lineOf(request.body), writeOf(request))
      )
  )

  tiers.secured.put(
    '/cart/items/:variantId',
    {
      schema: {
        tags,
        summary: 'Set the quantity of an item',
        params: ItemParams,
        body: UpdateItemRequest,
        response
      }
    },
    async (request, reply) => {
      const line = lineOf({ variant_id: request.params.variantId, ...request.body })
      return sendCart(
        reply,
        await cart.updateItem(ownedBy(identityOf(request).userId), line, writeOf(request))
      )
    }
  )

  tiers.secured.delete(
    '/cart/items/:variantId',
    { schema: { tags, summary: 'Remove an item', params: ItemParams, response } },
    async (request, reply) => {
      const { variantId } = request.params
      return sendCart(
        reply,
        await cart.removeItem(ownedBy(identityOf(request).userId), variantId, writeOf(request))
      )
    }
  )

  tiers.secured.delete(
    '/cart',
    { schema: { tags, summary: 'Empty the cart', response } },
    async (request, reply) =>
      sendCart(reply, await cart.clear(ownedBy(identityOf(request).userId), writeOf(request)))
  )
}

export const lineOf = ({ variant_id, quantity }: AddItemRequest): Line => ({
  variantId: variant_id,
  quantity
})

/** Sends a cart; `extra` are members in front of its own, as JSON text. */
export const sendCart = (reply: FastifyReply, view: CartView, extra = '') =>
  reply
    .header('etag', `"${view.version}"`)
    .header('content-type', 'application/json; charset=utf-8')
    .send(`{${extra}${cartJson(view).slice(1)}`)
