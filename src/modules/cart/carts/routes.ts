import type { FastifyReply, FastifyRequest } from 'fastify'
import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { marketParameters } from '../../../kernel/wire.ts'
import type { ResolveRequestMarket } from '../../pricing/index.ts'
import type { CartLine } from './lines.ts'
import {
  AddItemRequest,
  CartCountResponse,
  CartItemParams,
  CartResponse,
  UpdateCartRequest,
  UpdateItemRequest
} from './schema.ts'
import type { CartService, CustomerInMarket } from './service.ts'
import { type CartView, cartResponseJson } from './view.ts'

const config = { class: 'account' } as const
const response = { 200: CartResponse }

/** Operations on the cart of the authenticated customer (specification, "Secured routes"). */
export function cartRoutes(tiers: Tiers, cart: CartService, marketOf: ResolveRequestMarket): void {
  const customerOf = async (request: FastifyRequest): Promise<CustomerInMarket> => ({
    customerId: identityOf(request).userId,
    market: await marketOf(request)
  })
  const own = async (request: FastifyRequest) => cart.handleOf(await customerOf(request))

  tiers.secured.get(
    '/cart',
    {
      config,
      schema: {
        ...marketParameters,
        summary: 'Retrieve the cart',
        description:
          'Returns the cart of the customer, with current prices and stock of the market. A customer always has a cart; it may be empty. Items that can no longer be bought are in `unavailable_items`.',
        response
      }
    },
    async (request, reply) => sendCartResponse(reply, await cart.view(await customerOf(request)))
  )

  tiers.secured.get(
    '/cart/count',
    {
      config,
      schema: {
        summary: 'Retrieve the item count',
        description:
          'Returns how many units and how many different variants the cart holds. It is cheaper than the cart: use it for a badge.',
        response: { 200: CartCountResponse }
      }
    },
    request => cart.count(identityOf(request).userId)
  )

  tiers.secured.post(
    '/cart',
    {
      config,
      schema: {
        ...marketParameters,
        summary: 'Add an item',
        description:
          'Adds a quantity of a variant to the cart, or increases the item that exists. Returns the cart. 409 `CART_INSUFFICIENT_STOCK`: `available` is the most that can be added. 409 `CART_QUANTITY_LIMIT` or `CART_QUANTITY_RULE`: details state the allowed quantities. 409 `CART_VARIANT_UNAVAILABLE`: the variant is not for sale in this market. 409 `CART_LINE_LIMIT`: the cart has too many different variants.',
        body: AddItemRequest,
        response
      }
    },
    async (request, reply) =>
      sendCartResponse(
        reply,
        await cart.addItem(await own(request), cartLineOfRequest(request.body), writeOf(request))
      )
  )

  tiers.secured.put(
    '/cart/items/:variantId',
    {
      config,
      schema: {
        ...marketParameters,
        summary: 'Update an item',
        description:
          'Sets the quantity of an item of the cart, and returns the cart. To remove an item, delete it. 409 `CART_INSUFFICIENT_STOCK`: `available` is the most that can be added. 409 `CART_QUANTITY_LIMIT` or `CART_QUANTITY_RULE`: details state the allowed quantities. 409 `CART_VARIANT_UNAVAILABLE`: the variant is not for sale in this market. 404 `CART_ITEM_NOT_FOUND`: the variant is not in the cart; add it.',
        params: CartItemParams,
        body: UpdateItemRequest,
        response
      }
    },
    async (request, reply) => {
      const line = cartLineOfRequest({ variant_id: request.params.variantId, ...request.body })
      return sendCartResponse(reply, await cart.updateItem(await own(request), line, writeOf(request)))
    }
  )

  tiers.secured.patch(
    '/cart',
    {
      config,
      schema: {
        ...marketParameters,
        summary: 'Update the cart',
        description:
          'Changes `metadata` of the cart, and returns the cart. Sent keys are set, null deletes a key, and other keys stay. The order gets a copy when the cart is ordered. 400 `METADATA_LIMIT`: the cart would have too many keys or bytes; delete some. 412 `CART_VERSION_STALE`: the cart has changed since; read it again.',
        body: UpdateCartRequest,
        response
      }
    },
    async (request, reply) => {
      const { metadata = {} } = request.body
      return sendCartResponse(
        reply,
        await cart.updateMetadata(await own(request), metadata, writeOf(request))
      )
    }
  )

  tiers.secured.delete(
    '/cart/items/:variantId',
    {
      config,
      schema: {
        ...marketParameters,
        summary: 'Remove an item',
        description:
          'Removes an item from the cart, and returns the cart. Removing an item that is not in the cart changes nothing. 412 `CART_VERSION_STALE`: the cart has changed since; read it again.',
        params: CartItemParams,
        response
      }
    },
    async (request, reply) => {
      const { variantId } = request.params
      return sendCartResponse(reply, await cart.removeItem(await own(request), variantId, writeOf(request)))
    }
  )

  tiers.secured.delete(
    '/cart',
    {
      config,
      schema: {
        ...marketParameters,
        summary: 'Remove all items',
        description:
          'Removes all items, and returns the empty cart. 412 `CART_VERSION_STALE`: the cart has changed since; read it again.',
        response
      }
    },
    async (request, reply) => sendCartResponse(reply, await cart.clear(await own(request), writeOf(request)))
  )
}

export const cartLineOfRequest = ({ variant_id, quantity }: AddItemRequest): CartLine => ({
  variantId: variant_id,
  quantity
})

/** Sends a cart. `first`: JSON text of members that precede those of the cart. */
export const sendCartResponse = (reply: FastifyReply, view: CartView, first = '') =>
  reply
    .header('etag', `"${view.version}"`)
    .header('content-type', 'application/json; charset=utf-8')
    .send(cartResponseJson(view, first))
