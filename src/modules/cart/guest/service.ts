import type { Write } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import type { Line } from '../carts/lines.ts'
import type { CartOwner, CartService, Customer } from '../carts/service.ts'
import type { CartView } from '../carts/view.ts'
import { guestCartNotFound } from '../errors.ts'
import * as guests from './repository.ts'
import { guestCartTokenHash, guestCartTokens } from './token.ts'

/** A cart with its first line that nobody came back to is gone after a day: anybody can make any number of these. */
const FIRST_SECONDS = 86_400

export type GuestCartDeps = { db: Database; cart: CartService; secrets: Secrets; idleSeconds: number }
/** The holder of a guest cart's token, and where they buy. */
export type Guest = { readonly token: string | undefined; readonly market: Customer['market'] }
export type GuestCartService = ReturnType<typeof createGuestCartService>

/** Carts of people without an account: the same cart, reached by a token instead of an identity. */
export function createGuestCartService({ db, cart, secrets, idleSeconds }: GuestCartDeps) {
  /** @throws `CART_GUEST_NOT_FOUND`, the one answer for a token that is malformed, unknown, expired or used. */
  function ownerOf({ token, market }: Guest): CartOwner {
    // What cannot be a token is refused before anybody has a connection for it.
    const tokenHash = hashOf(token)
    return {
      customerId: null,
      market,
      key: tokenHash.toString('base64'),
      lockCartId: tx => lockOpenCart(tx, tokenHash),
      findCartId: async () => (await find(token)).cart_id,
      idleSecondsOf: () => idleSeconds
    }
  }

  async function lockOpenCart(tx: Transaction, tokenHash: Buffer): Promise<string> {
    const guest = await tx.first(guests.lockGuestCart, { tokenHash })
    if (guest === undefined || guest.merged_into !== null || guest.is_expired) throw guestCartNotFound()
    return guest.cart_id
  }

  async function find(token: string | undefined) {
    const found = await db.first(guests.findGuestCart, { tokenHash: hashOf(token) })
    if (found === undefined) throw guestCartNotFound()
    return found
  }

  /** Makes a cart with its first line. Its token can be made again from its id, for whoever repeats the request. */
  async function create(
    market: Guest['market'],
    line: Line,
    write: Write
  ): Promise<{ token: string; view: CartView }> {
    const cartId = write.id
    const tokens = guestCartTokens(secrets, cartId)
    const [token = ''] = tokens
    const owner: CartOwner = {
      customerId: null,
      market,
      key: token,
      lockCartId: async tx => {
        await tx.run(guests.insertGuestCart, { tokenHash: hashOf(token), cartId })
        return cartId
      },
      findCartId: async () => cartId,
      idleSecondsOf: () => FIRST_SECONDS
    }
    const view = await cart.addItem(owner, line, write)
    return { token: await toldToken(cartId, tokens), view }
  }

  /** Which of the tokens an earlier try answered with; the first one, unless the shop's secret has changed since. */
  async function toldToken(cartId: string, tokens: readonly string[]): Promise<string> {
    const [first = ''] = tokens
    if (tokens.length === 1) return first
    const stored = await db.first(guests.findTokenHash, { cartId })
    return tokens.find(token => stored !== undefined && hashOf(token).equals(stored.token_hash)) ?? first
  }

  async function view({ token, market }: Guest): Promise<CartView> {
    const { cart_id: cartId, is_returning: isReturning } = await find(token)
    if (isReturning) await db.transaction(tx => tx.run(guests.keepGuestCart, { cartId, idleSeconds }))
    return { ...(await cart.view({ customerId: cartId, market })), customerId: null }
  }

  async function count(token: string | undefined) {
    return cart.count((await find(token)).cart_id)
  }

  /** @throws `CART_GUEST_NOT_FOUND` */
  const cartIdOf = async (token: string): Promise<string> => (await find(token)).cart_id

  return {
    create,
    cartIdOf,
    view,
    count,
    addItem: (guest: Guest, line: Line, write: Write) => cart.addItem(ownerOf(guest), line, write),
    updateItem: (guest: Guest, line: Line, write: Write) => cart.updateItem(ownerOf(guest), line, write),
    removeItem: (guest: Guest, variantId: string, write: Write) =>
      cart.removeItem(ownerOf(guest), variantId, write),
    clear: (guest: Guest, write: Write) => cart.clear(ownerOf(guest), write)
  }
}

/** @throws `CART_GUEST_NOT_FOUND` for what cannot be a token. */
function hashOf(token: string | undefined): Buffer {
  const tokenHash = guestCartTokenHash(token ?? '')
  if (tokenHash === undefined) throw guestCartNotFound()
  return tokenHash
}
