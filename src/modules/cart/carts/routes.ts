import type { FastifyReply, FastifyRequest } from 'fastify'
import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { newId } from '../../../kernel/ids.ts'
import { mergeChangeIntoLineMetadata } from '../../../kernel/metadata.ts'
import { marketParameters } from '../../../kernel/wire.ts'
import type { ResolveRequestMarket } from '../../pricing/index.ts'
import type { CartLine } from './lines.ts'
import {
  AddCartItemRequest,
  CartCountResponse,
  CartLineParams,
  CartResponse,
  CartVariantParams,
  UpdateCartItemRequest,
  UpdateCartRequest,
  UpdateLineRequest
} from './schema.ts'
import type { CartService, CustomerInMarket } from './service.ts'
import { type CartView, cartResponseJson } from './view.ts'

const config = { class: 'account' } as const
const response = { 200: CartResponse }

/** Operations on the cart of the authenticated customer (specification, "Secured routes"). */
export function cartRoutes(tiers: Tiers, cart: CartService, marketOf: ResolveRequestMarket): void {
  const customerOfRequest = async (request: FastifyRequest): Promise<CustomerInMarket> => ({
    customerId: identityOf(request).userId,
    market: await marketOf(request)
  })
  const own = async (request: FastifyRequest) => cart.handleOf(await customerOfRequest(request))

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
    async (request, reply) => sendCartResponse(reply, await cart.view(await customerOfRequest(request)))
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
          'Adds a quantity of a variant to the cart, or increases the line that has this variant and equal `metadata`. Returns the cart. 400 `METADATA_LIMIT`: the cart would have too many bytes of metadata. 409 `CART_INSUFFICIENT_STOCK`: the lines of the variant can have at most `available`. 409 `CART_QUANTITY_LIMIT` or `CART_QUANTITY_RULE`: details state the allowed quantities. 409 `CART_VARIANT_UNAVAILABLE`: the variant is not for sale in this market. 409 `CART_LINE_LIMIT`: the cart has too many lines.',
        body: AddCartItemRequest,
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
          'Sets the quantity of a variant that is in one line of the cart, and returns the cart. To remove an item, delete it. 409 `CART_LINE_AMBIGUOUS`: the variant is in several lines; update one of them by its id. 409 `CART_INSUFFICIENT_STOCK`: the quantity can be at most `available`. 409 `CART_QUANTITY_LIMIT` or `CART_QUANTITY_RULE`: details state the allowed quantities. 409 `CART_VARIANT_UNAVAILABLE`: the variant is not for sale in this market. 404 `CART_ITEM_NOT_FOUND`: the variant is not in the cart; add it.',
        params: CartVariantParams,
        body: UpdateCartItemRequest,
        response
      }
    },
    async (request, reply) => {
      const changed = { variantId: request.params.variantId, quantity: request.body.quantity }
      return sendCartResponse(reply, await cart.updateItem(await own(request), changed, writeOf(request)))
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
          'Removes a variant that is in one line of the cart, and returns the cart. Removing an item that is not in the cart changes nothing. 409 `CART_LINE_AMBIGUOUS`: the variant is in several lines; remove one of them by its id. 412 `CART_VERSION_STALE`: the cart has changed since; read it again.',
        params: CartVariantParams,
        response
      }
    },
    async (request, reply) => {
      const { variantId } = request.params
      return sendCartResponse(reply, await cart.removeItem(await own(request), variantId, writeOf(request)))
    }
  )

  tiers.secured.patch(
    '/cart/lines/:lineId',
    {
      config,
      schema: {
        ...marketParameters,
        summary: 'Update a line',
        description:
          'Changes the quantity or the `metadata` of a line, and returns the cart. When the line becomes equal to another, both become one with the id of the older one. 400 `METADATA_LIMIT`: the line would have too many keys, or the cart too many bytes. 404 `CART_LINE_NOT_FOUND`: the cart has no such line; read it again. 409 `CART_INSUFFICIENT_STOCK`: the lines of the variant can have at most `available`. 409 `CART_QUANTITY_LIMIT` or `CART_QUANTITY_RULE`: details state the allowed quantities of the variant. 409 `CART_VARIANT_UNAVAILABLE`: the variant is not for sale in this market.',
        params: CartLineParams,
        body: UpdateLineRequest,
        response
      }
    },
    async (request, reply) => {
      const { lineId } = request.params
      const view = await cart.updateLine(await own(request), lineId, request.body, writeOf(request))
      return sendCartResponse(reply, view)
    }
  )

  tiers.secured.delete(
    '/cart/lines/:lineId',
    {
      config,
      schema: {
        ...marketParameters,
        summary: 'Remove a line',
        description:
          'Removes a line from the cart, and returns the cart. 404 `CART_LINE_NOT_FOUND`: the cart has no such line; read it again. 412 `CART_VERSION_STALE`: the cart has changed since; read it again.',
        params: CartLineParams,
        response
      }
    },
    async (request, reply) => {
      const { lineId } = request.params
      return sendCartResponse(reply, await cart.removeLine(await own(request), lineId, writeOf(request)))
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

/** The line that a request adds, with the id that it gets unless the cart has an equal line. */
export const cartLineOfRequest = ({ variant_id, quantity, metadata = {} }: AddCartItemRequest): CartLine => ({
  id: newId(),
  variantId: variant_id,
  quantity,
  metadata: mergeChangeIntoLineMetadata({}, metadata)
})

/** Sends a cart. `first`: JSON text of members that precede those of the cart. */
export const sendCartResponse = (reply: FastifyReply, view: CartView, first = '') =>
  reply
    .header('etag', `"${view.version}"`)
    .header('content-type', 'application/json; charset=utf-8')
    .send(cartResponseJson(view, first))
