import type { DomainError } from '../../../kernel/errors.ts'
import { type MetadataChange, normalizeMetadataChange } from '../../../kernel/metadata.ts'
import { isEmptyPatch } from '../../../kernel/patch.ts'
import { isAllowedQuantity, type QuantityRule } from '../../../kernel/quantity-rule.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { CatalogApi } from '../../catalog/index.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import type { Market } from '../../pricing/index.ts'
import {
  cartStaleError,
  insufficientStockError,
  quantityRuleBrokenError,
  variantUnavailableError
} from '../errors.ts'
import {
  addCartLine,
  type CartLimits,
  type CartLine,
  type CartLineChanges,
  removeCartLines,
  setCartLine,
  upsertCartLines
} from './lines.ts'
import { saveCartMetadata } from './metadata-repository.ts'
import * as carts from './repository.ts'
import { type CartView, joinCartWithOffers, type UnavailableCartLine } from './view.ts'

export type CartSettings = CartLimits & { readonly idleSeconds: number; readonly currency: string }
export type CartDeps = {
  db: Database
  catalog: CatalogApi
  /** Absent: the shop has no inventory, so stock is not limited. */
  inventory: Pick<InventoryApi, 'available'> | undefined
  settings: CartSettings
}
export type CartService = ReturnType<typeof createCartService>

/** A customer and the market of the request. `market` is null in a shop without markets. */
export type CustomerInMarket = { readonly customerId: string; readonly market: Market | null }
type BuyerInMarket = { readonly customerId: string | null; readonly market: Market | null }

/**
 * How a change finds and locks its cart. The id of a customer's cart is the customer's id. A guest's cart is
 * found by its token, which the transaction locks, so that a change never follows a merge of the same cart.
 */
export type CartHandle = BuyerInMarket & {
  /** The key by which changes of one cart are serialized. */
  key: string
  lockCartId(tx: Transaction): Promise<string>
  /** Returns the id of the cart without locking it. */
  findCartId(): Promise<string>
  /** Seconds without a change after which the cart expires. Null for never: an empty cart of a customer. */
  idleSecondsOf(lines: readonly CartLine[]): number | null
}

/**
 * Reads and changes carts. A cart stores only variants, quantities and metadata; each read adds the catalog's current
 * data.
 */
export function createCartService({ db, catalog, inventory, settings }: CartDeps) {
  /** Joins a stored cart with current prices and stock. */
  async function present({ customerId, market }: BuyerInMarket, cart: carts.StoredCart): Promise<CartView> {
    const variantIds = cart.lines.map(line => line.variantId)
    const [offers, stock] = await Promise.all([
      catalog.offers(cart.lines, market),
      inventory?.available(variantIds)
    ])
    const joined = joinCartWithOffers(cart.lines, offers, stock)
    const unavailable = joined.unavailable.length === 0 ? [] : await withNames(joined.unavailable)
    const { version, updatedAt, metadata } = cart
    const currency = market?.currency ?? settings.currency
    return { customerId, currency, version, updatedAt, metadata, ...joined, unavailable }
  }

  /** Adds the last known names of variants that are no longer for sale. Costs one more statement. */
  async function withNames(lines: readonly CartLine[]): Promise<UnavailableCartLine[]> {
    const names = await catalog.names(lines.map(line => line.variantId))
    return lines.map((line, index) => ({ ...line, name: names[index] ?? null }))
  }

  const view = async (customer: CustomerInMarket): Promise<CartView> =>
    present(customer, await carts.findCart(db, customer.customerId))

  const handleOf = ({ customerId, market }: CustomerInMarket): CartHandle => ({
    customerId,
    market,
    key: customerId,
    lockCartId: async () => customerId,
    findCartId: async () => customerId,
    idleSecondsOf: lines => (lines.length === 0 ? null : settings.idleSeconds)
  })

  const saveBatched = db.batchCalls((changes: readonly carts.OptimisticCartChange[]) =>
    carts.saveCartsIfUnchanged(db, changes)
  )
  /** Ids of carts with an optimistic change in progress in this process. */
  const cartsBeingSaved = new Set<string>()

  async function saveOptimistically(
    change: carts.OptimisticCartChange
  ): Promise<carts.SavedLines | undefined> {
    const { cartId } = change
    if (cartsBeingSaved.has(cartId)) return undefined
    cartsBeingSaved.add(cartId)
    try {
      return await saveBatched(change)
    } finally {
      cartsBeingSaved.delete(cartId)
    }
  }

  type DecideChange = (lines: readonly CartLine[]) => CartLineChanges | Promise<CartLineChanges>

  /**
   * Reads the cart, decides the change, and writes it if the version is still the same. This costs less than
   * a lock, and concurrent changes of one cart are rare. Returns `undefined` when the cart has changed or is
   * locked.
   */
  async function changeOptimistically(
    { customerId, key, idleSecondsOf }: CartHandle,
    write: IdempotentWrite,
    decide: DecideChange
  ) {
    // With other changes of this cart in progress, the version would have changed by the time of the write.
    if (customerId === null || write.alreadyApplied) return undefined
    if (db.isKeyBusy(key) || cartsBeingSaved.has(customerId)) return undefined
    const cart = await carts.findCart(db, customerId)
    if (cart.updatedAt === null) return undefined
    write.expect(cart.version, cartStaleError)
    const change = await decide(cart.lines)
    if (change.set.length === 0 && change.removed.length === 0) return undefined
    const idleSeconds = idleSecondsOf(change.lines)
    const decided = { cartId: customerId, version: cart.version, change, idleSeconds }
    const saved = await write.onceIfUnchanged(db.serializedBy(key), async tx =>
      tx === undefined ? saveOptimistically(decided) : (await carts.saveCartsIfUnchanged(tx, [decided]))[0]
    )
    return saved && { ...cart, ...saved }
  }

  /**
   * Changes a cart, optimistically if possible. Otherwise locks it, compares the version, decides, and
   * writes.
   */
  async function changeCart(
    handle: CartHandle,
    write: IdempotentWrite,
    decide: DecideChange
  ): Promise<CartView> {
    const changed = await changeOptimistically(handle, write, decide)
    if (changed !== undefined) return present(handle, changed)
    const stored = await write.once(db.serializedBy(handle.key), async tx => {
      const cartId = await handle.lockCartId(tx)
      const cart = await carts.lockOrCreateCart(tx, cartId)
      write.expect(cart.version, cartStaleError)
      const changed = await decide(cart.lines)
      if (changed.set.length === 0 && changed.removed.length === 0) return cart
      return { ...cart, ...(await carts.saveCart(tx, cartId, changed, handle.idleSecondsOf(changed.lines))) }
    })
    return present(handle, stored ?? (await carts.findCart(db, await handle.findCartId())))
  }

  /** Changes the metadata of a cart, which a customer's cart can have without lines. @throws `METADATA_LIMIT` */
  async function updateMetadata(
    handle: CartHandle,
    change: MetadataChange,
    write: IdempotentWrite
  ): Promise<CartView> {
    const stored = await write.once(db.serializedBy(handle.key), async tx => {
      const cartId = await handle.lockCartId(tx)
      const cart = await carts.lockOrCreateCart(tx, cartId)
      write.expect(cart.version, cartStaleError)
      if (isEmptyPatch(change)) return cart
      return { ...cart, ...(await saveCartMetadata(tx, cartId, normalizeMetadataChange(change))) }
    })
    return present(handle, stored ?? (await carts.findCart(db, await handle.findCartId())))
  }

  /**
   * Sets the line that `next` returns for the present lines. Offers and stock are read before the cart is
   * locked, and checked only when the request was not applied before.
   */
  async function setOneLine(
    handle: CartHandle,
    wanted: CartLine,
    write: IdempotentWrite,
    next: (lines: readonly CartLine[]) => CartLine
  ): Promise<CartView> {
    const [[offer], stock] = await Promise.all([
      catalog.offers([wanted], handle.market),
      inventory?.available([wanted.variantId])
    ])
    return changeCart(handle, write, async lines => {
      const line = next(lines)
      if (offer === undefined) throw await unavailableError(wanted.variantId)
      assertQuantityAllowed(line.quantity, offer.rule)
      const available = stock?.[0] ?? null
      if (available !== null && line.quantity > available)
        throw insufficientStockError({ details: { available } })
      return upsertCartLines(lines, [line])
    })
  }

  /** Adds a quantity to the line of the variant, or creates the line. */
  const addItem = (handle: CartHandle, added: CartLine, write: IdempotentWrite): Promise<CartView> =>
    setOneLine(handle, added, write, lines => addCartLine(lines, added, settings))

  /** Sets the quantity of an existing line. */
  const updateItem = (handle: CartHandle, changed: CartLine, write: IdempotentWrite): Promise<CartView> =>
    setOneLine(handle, changed, write, lines => setCartLine(lines, changed, settings))

  /** Removes a line. Does nothing when the cart has no such line. */
  const removeItem = (handle: CartHandle, variantId: string, write: IdempotentWrite): Promise<CartView> =>
    changeCart(handle, write, lines => removeCartLines(lines, [variantId]))

  const clear = (handle: CartHandle, write: IdempotentWrite): Promise<CartView> =>
    changeCart(handle, write, lines =>
      removeCartLines(
        lines,
        lines.map(line => line.variantId)
      )
    )

  /**
   * Returns the error for a variant that is not for sale. @throws `CATALOG_VARIANT_NOT_FOUND` when it does
   * not exist.
   */
  async function unavailableError(variantId: string): Promise<DomainError> {
    await catalog.requireVariant(variantId)
    return variantUnavailableError()
  }

  return {
    handleOf,
    view,
    present,
    addItem,
    updateItem,
    removeItem,
    clear,
    updateMetadata,
    findStored: (cartId: string) => carts.findCart(db, cartId),
    count: (cartId: string) => carts.countCartItems(db, cartId)
  }
}

/** @throws `CART_QUANTITY_RULE` */
function assertQuantityAllowed(quantity: number, rule: QuantityRule): void {
  if (isAllowedQuantity(quantity, rule)) return
  const { min, max, step } = rule
  throw quantityRuleBrokenError({ details: { quantity_min: min, quantity_max: max, quantity_step: step } })
}
