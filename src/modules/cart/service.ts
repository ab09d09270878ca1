import type { Database, Transaction } from '../../platform/postgres.ts'
import type { Write } from '../../platform/write.ts'
import type { CatalogApi } from '../catalog/index.ts'
import { cartStale, insufficientStock, variantUnavailable } from './errors.ts'
import { addLine, type CartLimits, type Line, setLine, withLines } from './lines.ts'
import * as carts from './repository.ts'
import type { Stock } from './stock.ts'
import { type CartView, viewOf } from './view.ts'

export type CartSettings = CartLimits & { readonly idleDays: number; readonly currency: string }
export type CartDeps = {
  db: Database
  catalog: CatalogApi
  stock: Stock | undefined
  settings: CartSettings
}
export type CartService = ReturnType<typeof createCartService>

/**
 * Which cart a change is for. A customer's cart is named by the customer's id; a guest's must be found, and its
 * token held, inside the transaction of the change, so that no change slips behind a merge.
 */
export type CartOwner = {
  customerId: string | null
  lockCartId(tx: Transaction): Promise<string>
}
export const ownedBy = (customerId: string): CartOwner => ({ customerId, lockCartId: async () => customerId })

/** Carts: quantities by variant in the database, everything else from the catalog when a cart is read. */
export function createCartService({ db, catalog, stock, settings }: CartDeps) {
  /** Joins a stored cart with the catalog. */
  async function present(customerId: string | null, cart: carts.StoredCart): Promise<CartView> {
    const variantIds = cart.lines.map(line => line.variantId)
    const offers = await catalog.offers(variantIds)
    const available = await stock?.available(variantIds)
    const { version, updatedAt } = cart
    return {
      customerId,
      currency: settings.currency,
      version,
      updatedAt,
      ...viewOf(cart.lines, offers, available)
    }
  }

  const view = async (customerId: string): Promise<CartView> =>
    present(customerId, await carts.findCart(db, customerId))

  /**
   * One change of one cart: lock, compare the version, decide, write, count. `decide` gets the lines as they are and
   * makes its statements; it answers the lines as they are to be, or the same array when nothing changes.
   */
  async function change(
    owner: CartOwner,
    write: Write,
    decide: (tx: Transaction, cartId: string, lines: Line[]) => Promise<Line[]>
  ): Promise<CartView> {
    const stored = await db.transaction(async tx => {
      const cartId = await owner.lockCartId(tx)
      const cart = await carts.lock(tx, cartId, settings.idleDays)
      if (write.alreadyApplied) return cart
      expectVersion(cart, write)
      const lines = await decide(tx, cartId, cart.lines)
      const updated = lines === cart.lines ? cart : await carts.update(tx, cartId, settings.idleDays)
      await write.markApplied(tx)
      return { ...updated, lines }
    })
    return present(owner.customerId, stored)
  }

  /** Adds to the line of the variant, or makes one. */
  async function addItem(owner: CartOwner, added: Line, write: Write): Promise<CartView> {
    if (!write.alreadyApplied) await requireOffer(added.variantId)
    return change(owner, write, async (tx, cartId, lines) => {
      const line = addLine(lines, added, settings)
      await requireStock(line)
      await carts.upsert(tx, cartId, [line])
      return withLines(lines, [line])
    })
  }

  /** Sets the quantity of a line that is there. */
  async function updateItem(owner: CartOwner, changed: Line, write: Write): Promise<CartView> {
    return change(owner, write, async (tx, cartId, lines) => {
      const line = setLine(lines, changed, settings)
      await requireOffer(line.variantId)
      await requireStock(line)
      await carts.upsert(tx, cartId, [line])
      return withLines(lines, [line])
    })
  }

  /** Takes a line out; one that is not there is no error. */
  async function removeItem(owner: CartOwner, variantId: string, write: Write): Promise<CartView> {
    return change(owner, write, async (tx, cartId, lines) => {
      const rest = lines.filter(line => line.variantId !== variantId)
      if (rest.length === lines.length) return lines
      await carts.deleteOne(tx, cartId, variantId)
      return rest
    })
  }

  async function clear(owner: CartOwner, write: Write): Promise<CartView> {
    return change(owner, write, async (tx, cartId, lines) => {
      if (lines.length === 0) return lines
      await carts.deleteAll(tx, cartId)
      return []
    })
  }

  /** @throws `CATALOG_VARIANT_NOT_FOUND` when there never was such a variant, `CART_VARIANT_UNAVAILABLE` otherwise. */
  async function requireOffer(variantId: string): Promise<void> {
    const [offer] = await catalog.offers([variantId])
    if (offer !== undefined) return
    await catalog.requireVariant(variantId)
    throw variantUnavailable()
  }

  async function requireStock(line: Line): Promise<void> {
    const available = (await stock?.available([line.variantId]))?.[0]
    if (available !== undefined && line.quantity > available)
      throw insufficientStock({ details: { available } })
  }

  return { view, present, addItem, updateItem, removeItem, clear, count: (id: string) => carts.count(db, id) }
}

/** @throws `CART_VERSION_STALE` when the caller acts on another version than the one that is locked. */
export function expectVersion(cart: { version: number }, { expectedVersion }: Write): void {
  if (expectedVersion !== null && expectedVersion !== cart.version) {
    throw cartStale({ details: { version: cart.version } })
  }
}
