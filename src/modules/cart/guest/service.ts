import { found } from '../../../kernel/errors.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database, Queryable, Transaction } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import type { CartLine } from '../carts/lines.ts'
import { findCart, type StoredCart, type StoredCartWithId } from '../carts/repository.ts'
import type { CartHandle, CartService, CustomerInMarket } from '../carts/service.ts'
import type { CartView } from '../carts/view.ts'
import { cartStaleError, guestCartNotFoundError } from '../errors.ts'
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
   * malformed; reading and locking throw it for unknown, expired or merged ones.
   */
  function handleOf({ token, market }: GuestCartTokenAndMarket): CartHandle {
    // Malformed tokens are rejected before a database connection is acquired.
    const tokenHash = requireTokenHash(token)
    return {
      customerId: null,
      market,
      key: tokenHash.toString('base64'),
      lockCartId: tx => lockOpenCart(tx, tokenHash),
      find: () => findStored(token),
      idleSecondsOf: () => idleSeconds
    }
  }

  async function lockOpenCart(tx: Transaction, tokenHash: Buffer): Promise<string> {
    const guest = await tx.first(guests.lockGuestCart, { tokenHash })
    if (guest === undefined || guest.merged_into !== null || guest.is_expired) throw guestCartNotFoundError()
    return guest.cart_id
  }

  async function find(token: string | undefined) {
    return found(await guests.findGuestCart(db, requireTokenHash(token)), guestCartNotFoundError)
  }

  /** @throws `CART_GUEST_NOT_FOUND` */
  const findStored = async (token: string | undefined): Promise<StoredCartWithId> => (await find(token)).cart

  const insert = (on: Queryable, carts: readonly guests.NewGuestCart[]) =>
    guests.insertGuestCarts(on, carts, UNVISITED_CART_SECONDS)
  const insertBatched = db.batchCalls((carts: readonly guests.NewGuestCart[]) => insert(db, carts))

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
    const tokenHash = requireTokenHash(tokens[0])
    const created = await insertOnce({ tokenHash, cartId, line }, market, write)
    const view = await cart.present({ customerId: null, market }, created ?? (await findCart(db, cartId)))
    return { token: await findIssuedToken(cartId, tokens), view }
  }

  /** Shares a statement with other new carts if possible. Returns `undefined` when an earlier attempt inserted the cart. */
  async function insertOnce(
    guestCart: guests.NewGuestCart,
    market: GuestCartTokenAndMarket['market'],
    write: IdempotentWrite
  ): Promise<StoredCart | undefined> {
    if (write.alreadyApplied) return undefined
    write.expect(0, cartStaleError)
    await cart.assertFirstLine(guestCart.line, market)
    const insertAlone = async (tx: Transaction) => (await insert(tx, [guestCart]))[0]
    const batched = await write.onceIfUnchanged(db, tx =>
      tx === undefined ? insertBatched(guestCart) : insertAlone(tx)
    )
    const inserted =
      batched ??
      (await write.once(db, tx => {
        write.expect(0, cartStaleError)
        return insertAlone(tx)
      }))
    return inserted && { ...inserted, metadata: {} }
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
    const { cart: stored, isReturning } = await find(token)
    const { cartId } = stored
    if (isReturning)
      await db.transaction(tx => tx.run(guests.extendUnchangedGuestCart, { cartId, idleSeconds }))
    return cart.present({ customerId: null, market }, stored)
  }

  const count = async (token: string | undefined) =>
    found(
      await db.first(guests.countGuestCartItems, { tokenHash: requireTokenHash(token) }),
      guestCartNotFoundError
    )

  return { handleOf, create, findStored, view, count }
}

/** @throws `CART_GUEST_NOT_FOUND` when the token is malformed. */
function requireTokenHash(token: string | undefined): Buffer {
  const tokenHash = hashGuestCartToken(token ?? '')
  if (tokenHash === undefined) throw guestCartNotFoundError()
  return tokenHash
}
