import type { FastifyRequest } from 'fastify'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { MarketQuery, withResponseDescription } from '../../../kernel/wire.ts'
import type { ResolveRequestMarket } from '../../pricing/index.ts'
import { cartLineOfRequest, sendCartResponse } from '../carts/routes.ts'
import {
  AddCartItemRequest,
  CartCountResponse,
  CartLineParams,
  CartVariantParams,
  GuestCartHeaders,
  GuestCartResponse,
  UpdateCartItemRequest,
  UpdateCartRequest,
  UpdateLineRequest
} from '../carts/schema.ts'
import type { CartService } from '../carts/service.ts'
import type { GuestCartService, GuestCartTokenAndMarket } from './service.ts'

const TOKEN = 'x-guest-cart-token'
const config = { class: 'account' } as const
const common = { tags: ['guest cart'], headers: GuestCartHeaders, querystring: MarketQuery }
const response = { 200: GuestCartResponse }

/** Operations on the cart of a guest, who proves access with a token. */
export function guestCartRoutes(
  tiers: Tiers,
  { cart, guests }: { cart: CartService; guests: GuestCartService },
  marketOf: ResolveRequestMarket,
  perMinute: number
): void {
  const guestOf = async (request: FastifyRequest): Promise<GuestCartTokenAndMarket> => ({
    token: request.headers[TOKEN] as string | undefined,
    market: await marketOf(request)
  })
  const own = async (request: FastifyRequest) => guests.handleOf(await guestOf(request))

  tiers.public.post(
    '/guest-cart',
    {
      config: { ...config, secret: 201, limit: { name: 'guest_cart', perMinute, without: TOKEN } },
      schema: {
        ...common,
        summary: 'Add an item to a guest cart',
        description:
          'Adds a quantity of a variant to the cart of `X-Guest-Cart-Token`, or increases the line that has this variant and equal `metadata`. Without that header it creates a cart: store the `guest_cart_token` of the response. 400 `METADATA_LIMIT`: the cart would have too many bytes of metadata. 409 `CART_INSUFFICIENT_STOCK`: the lines of the variant can have at most `available`. 409 `CART_QUANTITY_LIMIT` or `CART_QUANTITY_RULE`: details state the allowed quantities. 409 `CART_VARIANT_UNAVAILABLE`: the variant is not for sale in this market. 404 `CART_GUEST_NOT_FOUND`: the token is unknown, expired or merged; repeat the request without it.',
        body: AddCartItemRequest,
        response: {
          200: withResponseDescription(GuestCartResponse, 'The item was added to the existing cart.'),
          201: withResponseDescription(GuestCartResponse, 'A cart was created. Store its `guest_cart_token`.')
        }
      }
    },
    async (request, reply) => {
      const guest = await guestOf(request)
      const line = cartLineOfRequest(request.body)
      if (guest.token !== undefined)
        return sendCartResponse(reply, await cart.addItem(guests.handleOf(guest), line, writeOf(request)))
      const created = await guests.create(guest.market, line, writeOf(request))
      return sendCartResponse(reply.code(201), created.view, `"guest_cart_token":"${created.token}",`)
    }
  )

  tiers.public.get(
    '/guest-cart',
    {
      config,
      schema: {
        ...common,
        summary: 'Retrieve a guest cart',
        description:
          'Returns a guest cart, with current prices and stock of the market. Items that can no longer be bought are in `unavailable_items`. Needs `X-Guest-Cart-Token`. 404 `CART_GUEST_NOT_FOUND`: the token is missing, unknown, expired or merged; add an item without a token to create a new cart.',
        response
      }
    },
    async (request, reply) => sendCartResponse(reply, await guests.view(await guestOf(request)))
  )

  tiers.public.get(
    '/guest-cart/count',
    {
      config,
      schema: {
        ...common,
        summary: "Retrieve a guest cart's item count",
        description:
          'Returns how many units and how many different variants a guest cart holds. It is cheaper than the cart: use it for a badge. Needs `X-Guest-Cart-Token`. 404 `CART_GUEST_NOT_FOUND`: the token is missing, unknown, expired or merged; add an item without a token to create a new cart.',
        response: { 200: CartCountResponse }
      }
    },
    request => guests.count(request.headers[TOKEN])
  )

  tiers.public.put(
    '/guest-cart/items/:variantId',
    {
      config,
      schema: {
        ...common,
        summary: 'Update an item of a guest cart',
        description:
          'Sets the quantity of a variant that is in one line of a guest cart, and returns the cart. Needs `X-Guest-Cart-Token`. 409 `CART_LINE_AMBIGUOUS`: the variant is in several lines; update one of them by its id. 409 `CART_INSUFFICIENT_STOCK`: the quantity can be at most `available`. 409 `CART_QUANTITY_LIMIT` or `CART_QUANTITY_RULE`: details state the allowed quantities. 409 `CART_VARIANT_UNAVAILABLE`: the variant is not for sale in this market. 404 `CART_ITEM_NOT_FOUND` or `CART_GUEST_NOT_FOUND`: the variant is not in the cart, or the token is invalid.',
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

  tiers.public.patch(
    '/guest-cart',
    {
      config,
      schema: {
        ...common,
        summary: 'Update a guest cart',
        description:
          'Changes `metadata` of a guest cart, and returns the cart. Sent keys are set, null deletes a key, and other keys stay. Needs `X-Guest-Cart-Token`. 400 `METADATA_LIMIT`: the cart would have too many keys or bytes; delete some. 404 `CART_GUEST_NOT_FOUND`: the token is missing, unknown, expired or merged; add an item without a token to create a new cart.',
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

  tiers.public.delete(
    '/guest-cart/items/:variantId',
    {
      config,
      schema: {
        ...common,
        summary: 'Remove an item from a guest cart',
        description:
          'Removes a variant that is in one line of a guest cart, and returns the cart. Removing an item that is not in the cart changes nothing. Needs `X-Guest-Cart-Token`. 409 `CART_LINE_AMBIGUOUS`: the variant is in several lines; remove one of them by its id. 404 `CART_GUEST_NOT_FOUND`: the token is missing, unknown, expired or merged; add an item without a token to create a new cart.',
        params: CartVariantParams,
        response
      }
    },
    async (request, reply) => {
      const { variantId } = request.params
      return sendCartResponse(reply, await cart.removeItem(await own(request), variantId, writeOf(request)))
    }
  )

  tiers.public.patch(
    '/guest-cart/lines/:lineId',
    {
      config,
      schema: {
        ...common,
        summary: 'Update a line of a guest cart',
        description:
          'Changes the quantity or the `metadata` of a line of a guest cart, and returns the cart. When the line becomes equal to another, both become one with the id of the older one. Needs `X-Guest-Cart-Token`. 400 `METADATA_LIMIT`: the line would have too many keys, or the cart too many bytes. 404 `CART_LINE_NOT_FOUND` or `CART_GUEST_NOT_FOUND`: the cart has no such line, or the token is invalid. 409 `CART_INSUFFICIENT_STOCK`: the lines of the variant can have at most `available`. 409 `CART_QUANTITY_LIMIT` or `CART_QUANTITY_RULE`: details state the allowed quantities of the variant. 409 `CART_VARIANT_UNAVAILABLE`: the variant is not for sale in this market.',
        params: CartLineParams,
        body: UpdateLineRequest,
        response
      }
    },
    async (request, reply) => {
      const { lineId } = request.params
      return sendCartResponse(
        reply,
        await cart.updateLine(await own(request), lineId, request.body, writeOf(request))
      )
    }
  )

  tiers.public.delete(
    '/guest-cart/lines/:lineId',
    {
      config,
      schema: {
        ...common,
        summary: 'Remove a line of a guest cart',
        description:
          'Removes a line from a guest cart, and returns the cart. Needs `X-Guest-Cart-Token`. 404 `CART_LINE_NOT_FOUND` or `CART_GUEST_NOT_FOUND`: the cart has no such line, or the token is invalid.',
        params: CartLineParams,
        response
      }
    },
    async (request, reply) => {
      const { lineId } = request.params
      return sendCartResponse(reply, await cart.removeLine(await own(request), lineId, writeOf(request)))
    }
  )

  tiers.public.delete(
    '/guest-cart',
    {
      config,
      schema: {
        ...common,
        summary: 'Remove all items from a guest cart',
        description:
          'Removes all items from a guest cart, and returns the empty cart. The token stays valid. Needs `X-Guest-Cart-Token`. 404 `CART_GUEST_NOT_FOUND`: the token is missing, unknown, expired or merged; add an item without a token to create a new cart.',
        response
      }
    },
    async (request, reply) => sendCartResponse(reply, await cart.clear(await own(request), writeOf(request)))
  )
}
