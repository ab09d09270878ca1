import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import type { CartLine } from '../carts/lines.ts'
import type { CartHandle, CartService, CustomerInMarket } from '../carts/service.ts'
import type { CartView } from '../carts/view.ts'
import { guestCartNotFoundError } from '../errors.ts'
import * as guests from './repository.ts'
import { deriveGuestCartTokens, hashGuestCartToken } from './token.ts'

/**
 * Seconds that a new guest cart is kept if the guest never returns. Short, because any client can create
 * many.
 */
const UNVISITED_CART_SECONDS = 86_400

export type GuestCartDeps = { db: Database; cart: CartService; secrets: Secrets; idleSeconds: number }
/** The guest cart token of a request, and its market. */
export type GuestCartTokenAndMarket = {
  readonly token: string | undefined
  readonly market: CustomerInMarket['market']
}
export type GuestCartService = ReturnType<typeof createGuestCartService>

/** Carts of guests. They are carts like those of customers, found by a token instead of the customer's id. */
export function createGuestCartService({ db, cart, secrets, idleSeconds }: GuestCartDeps) {
  /**
   * Returns the handle by which the cart service changes the guest's cart. @throws `CART_GUEST_NOT_FOUND` when the token is
   * malformed; locking throws it for unknown, expired or merged ones.
   */
  function handleOf({ token, market }: GuestCartTokenAndMarket): CartHandle {
    // Malformed tokens are rejected before a database connection is acquired.
    const tokenHash = requireTokenHash(token)
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
    if (guest === undefined || guest.merged_into !== null || guest.is_expired) throw guestCartNotFoundError()
    return guest.cart_id
  }

  async function find(token: string | undefined) {
    const found = await db.first(guests.findGuestCartByTokenHash, { tokenHash: requireTokenHash(token) })
    if (found === undefined) throw guestCartNotFoundError()
    return found
  }

  /**
   * Creates a cart with its first line. The token is derived from the cart's id, so a retry returns the same
   * token.
   */
  async function create(
    market: GuestCartTokenAndMarket['market'],
    line: CartLine,
    write: IdempotentWrite
  ): Promise<{ token: string; view: CartView }> {
    const cartId = write.id
    const tokens = deriveGuestCartTokens(secrets, cartId)
    const [token = ''] = tokens
    const handle: CartHandle = {
      customerId: null,
      market,
      key: token,
      lockCartId: async tx => {
        await tx.run(guests.insertGuestCart, { tokenHash: requireTokenHash(token), cartId })
        return cartId
      },
      findCartId: async () => cartId,
      idleSecondsOf: () => UNVISITED_CART_SECONDS
    }
    const view = await cart.addItem(handle, line, write)
    return { token: await findIssuedToken(cartId, tokens), view }
  }

  /**
   * Returns the token that an earlier attempt issued. After a rotation of the shop's secret, this token is
   * not the first one that is derived.
   */
  async function findIssuedToken(cartId: string, tokens: readonly string[]): Promise<string> {
    const [first = ''] = tokens
    if (tokens.length === 1) return first
    const stored = await db.first(guests.findGuestCartTokenHash, { cartId })
    return (
      tokens.find(token => stored !== undefined && requireTokenHash(token).equals(stored.token_hash)) ?? first
    )
  }

  async function view({ token, market }: GuestCartTokenAndMarket): Promise<CartView> {
    const { cart_id: cartId, is_returning: isReturning } = await find(token)
    if (isReturning)
      await db.transaction(tx => tx.run(guests.extendUnchangedGuestCart, { cartId, idleSeconds }))
    return { ...(await cart.view({ customerId: cartId, market })), customerId: null }
  }

  async function count(token: string | undefined) {
    return cart.count((await find(token)).cart_id)
  }

  /** @throws `CART_GUEST_NOT_FOUND` */
  const findCartId = async (token: string): Promise<string> => (await find(token)).cart_id

  return { handleOf, create, findCartId, view, count }
}

/** @throws `CART_GUEST_NOT_FOUND` when the token is malformed. */
function requireTokenHash(token: string | undefined): Buffer {
  const tokenHash = hashGuestCartToken(token ?? '')
  if (tokenHash === undefined) throw guestCartNotFoundError()
  return tokenHash
}
