import { newId } from '../../../kernel/ids.ts'
import type { Database } from '../../../platform/postgres.ts'
import { unconditional, type Write } from '../../../platform/write.ts'
import { guestCartNotFound } from '../errors.ts'
import type { Line } from '../lines.ts'
import type { CartOwner, CartService } from '../service.ts'
import type { CartView } from '../view.ts'
import * as guests from './repository.ts'
import { guestCartTokenHash, newGuestCartToken } from './token.ts'

export type GuestCartService = ReturnType<typeof createGuestCartService>

/** Carts of people without an account: the same cart, reached by a token instead of an identity. */
export function createGuestCartService({ db, cart }: { db: Database; cart: CartService }) {
  /** @throws `CART_GUEST_NOT_FOUND`, the one answer for a token that is malformed, unknown, expired or used. */
  function ownerOf(token: string | undefined): CartOwner {
    return { customerId: null, lockCartId: tx => lockOpenCart(tx, hashOf(token)) }
  }

  async function lockOpenCart(tx: Parameters<typeof guests.lock>[0], tokenHash: Buffer): Promise<string> {
    const guest = await guests.lock(tx, tokenHash)
    if (guest === undefined || guest.mergedInto !== null || guest.expired) throw guestCartNotFound()
    return guest.cartId
  }

  async function cartIdOf(token: string | undefined): Promise<string> {
    const cartId = await guests.find(db, hashOf(token))
    if (cartId === undefined) throw guestCartNotFound()
    return cartId
  }

  /** Makes a cart with its first line. The token is told this once. */
  async function create(line: Line, write: Write): Promise<{ token: string; view: CartView }> {
    const token = newGuestCartToken()
    const tokenHash = hashOf(token)
    const cartId = newId()
    const owner: CartOwner = {
      customerId: null,
      lockCartId: async tx => {
        await guests.insert(tx, tokenHash, cartId)
        return cartId
      }
    }
    // If an earlier try was committed but its answer, and so the token, was lost: nobody can reach that cart any more.
    return { token, view: await cart.addItem(owner, line, write.alreadyApplied ? unconditional : write) }
  }

  async function view(token: string | undefined): Promise<CartView> {
    return { ...(await cart.view(await cartIdOf(token))), customerId: null }
  }

  async function count(token: string | undefined) {
    return cart.count(await cartIdOf(token))
  }

  return {
    create,
    view,
    count,
    addItem: (token: string, line: Line, write: Write) => cart.addItem(ownerOf(token), line, write),
    updateItem: (token: string | undefined, line: Line, write: Write) =>
      cart.updateItem(ownerOf(token), line, write),
    removeItem: (token: string | undefined, variantId: string, write: Write) =>
      cart.removeItem(ownerOf(token), variantId, write),
    clear: (token: string | undefined, write: Write) => cart.clear(ownerOf(token), write)
  }
}

/** @throws `CART_GUEST_NOT_FOUND` for what cannot be a token. */
function hashOf(token: string | undefined): Buffer {
  const tokenHash = guestCartTokenHash(token ?? '')
  if (tokenHash === undefined) throw guestCartNotFound()
  return tokenHash
}
