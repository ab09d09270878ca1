import {
  assertCustomerWrittenMetadataBytes,
  isEmptyMetadata,
  type MetadataChange,
  mergeMetadata,
  normalizeMetadataChange
} from '../../../kernel/metadata.ts'
import { isEmptyPatch } from '../../../kernel/patch.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { CatalogApi } from '../../catalog/index.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import type { Market } from '../../pricing/index.ts'
import { cartLineNotFoundError, cartStaleError } from '../errors.ts'
import {
  addCartLine,
  type CartLimits,
  type CartLine,
  type CartLinePatch,
  type ChangedCartLines,
  patchCartLine,
  removeCartLine,
  removeCartLines,
  removeOnlyCartLineOfVariant,
  setCartVariantQuantity,
  variantQuantityOfEachLine
} from './lines.ts'
import { saveCartMetadata } from './metadata-repository.ts'
import {
  insertCartIfMissing,
  type OptimisticCartChange,
  saveCartsIfUnchanged
} from './optimistic-repository.ts'
import { createCartQuantityCheck } from './quantity-check.ts'
import * as carts from './repository.ts'
import { type CartView, joinCartWithOffers, type UnavailableCartLine } from './view.ts'

export type CartServiceSettings = CartLimits & { readonly idleSeconds: number; readonly currency: string }
export type CartServiceDeps = {
  db: Database
  catalog: CatalogApi
  /** Absent: the shop has no inventory, so stock is not limited. */
  inventory: Pick<InventoryApi, 'available'> | undefined
  settings: CartServiceSettings
}
/** A variant and the quantity that its only line gets. */
export type CartItemQuantity = Pick<CartLine, 'variantId' | 'quantity'>
export type CartService = ReturnType<typeof createCartService>

/** A customer and the market of the request. `market` is null in a shop without markets. */
export type CustomerInMarket = { readonly customerId: string; readonly market: Market | null }
type BuyerInMarket = { readonly customerId: string | null; readonly market: Market | null }

/**
 * How a change finds and locks its cart. The id of a customer's cart is the customer's id. A guest's cart is
 * found by its token. No change follows a merge of the same cart: a locked change locks the token, and an optimistic
 * one needs the unchanged row of the cart, which the merge deletes.
 */
export type CartHandle = BuyerInMarket & {
  /** The key by which changes of one cart are serialized. */
  key: string
  lockCartId(tx: Transaction): Promise<string>
  /** Reads the cart without locking it. */
  find(): Promise<carts.StoredCartWithId>
  /** Seconds without a change after which the cart expires. Null for never: an empty cart of a customer. */
  idleSecondsOf(lines: readonly CartLine[]): number | null
}

/**
 * Reads and changes carts. A cart stores only variants, quantities and metadata; each read adds the catalog's current
 * data. Prices, limits and stock are those for the quantity of a variant in all its lines.
 */
export function createCartService({ db, catalog, inventory, settings }: CartServiceDeps) {
  const readQuantityCheck = createCartQuantityCheck({ catalog, inventory })

  /** Joins a stored cart with current prices and stock. */
  async function present({ customerId, market }: BuyerInMarket, cart: carts.StoredCart): Promise<CartView> {
    const variantIds = cart.lines.map(line => line.variantId)
    const quantities = variantQuantityOfEachLine(cart.lines)
    const wanted = variantIds.map((variantId, index) => ({ variantId, quantity: quantities[index] ?? 0 }))
    const [offers, stock] = await Promise.all([
      catalog.offers(wanted, market),
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
    find: () => carts.findCart(db, customerId),
    idleSecondsOf: lines => (lines.length === 0 ? null : settings.idleSeconds)
  })

  const saveBatched = db.batchCalls((changes: readonly OptimisticCartChange[]) =>
    saveCartsIfUnchanged(db, changes)
  )
  /** Keys of carts with an optimistic change in progress in this process. */
  const keysBeingSaved = new Set<string>()

  async function saveOptimistically(
    key: string,
    change: OptimisticCartChange
  ): Promise<carts.CartAfterLineChange | undefined> {
    if (keysBeingSaved.has(key)) return undefined
    keysBeingSaved.add(key)
    try {
      return await saveBatched(change)
    } finally {
      keysBeingSaved.delete(key)
    }
  }

  type DecideChange = (lines: readonly CartLine[]) => ChangedCartLines | Promise<ChangedCartLines>

  /**
   * Reads the cart, decides the change, and writes it if the version is still the same, or inserts the customer's first cart.
   * Cheaper than a lock; concurrent changes of one cart are rare. Returns `undefined` when the cart has changed or is locked.
   */
  async function changeOptimistically(
    { key, find, idleSecondsOf }: CartHandle,
    write: IdempotentWrite,
    decide: DecideChange
  ) {
    // With other changes of this cart in progress, the version would have changed by the time of the write.
    if (write.alreadyApplied || db.isKeyBusy(key) || keysBeingSaved.has(key)) return undefined
    const cart = await find()
    write.expect(cart.version, cartStaleError)
    const change = await decide(cart.lines)
    assertMetadataFits(cart, change)
    if (change.set.length === 0 && change.removed.length === 0) return undefined
    const { cartId, version, updatedAt } = cart
    const decided = { cartId, version, change, idleSeconds: idleSecondsOf(change.lines) }
    const saved = await write.onceIfUnchanged(db.serializedBy(key), async tx => {
      // A guest's cart without a row is not found, so only a customer's is inserted here.
      if (updatedAt === null) return insertCartIfMissing(tx ?? db, decided)
      return tx === undefined
        ? saveOptimistically(key, decided)
        : (await saveCartsIfUnchanged(tx, [decided]))[0]
    })
    return saved && { ...cart, ...saved }
  }

  /** Locks a cart, compares its version, and changes it. `change` returns the cart that it has written. */
  async function changeLocked(
    handle: CartHandle,
    write: IdempotentWrite,
    change: (tx: Transaction, cartId: string, cart: carts.StoredCart) => Promise<carts.StoredCart>
  ): Promise<CartView> {
    const stored = await write.once(db.serializedBy(handle.key), async tx => {
      const cartId = await handle.lockCartId(tx)
      const cart = await carts.lockOrCreateCart(tx, cartId)
      write.expect(cart.version, cartStaleError)
      return change(tx, cartId, cart)
    })
    return present(handle, stored ?? (await handle.find()))
  }

  /** Changes the lines of a cart, optimistically if possible, otherwise with a lock. */
  async function changeCart(
    handle: CartHandle,
    write: IdempotentWrite,
    decide: DecideChange
  ): Promise<CartView> {
    const changed = await changeOptimistically(handle, write, decide)
    if (changed !== undefined) return present(handle, changed)
    return changeLocked(handle, write, async (tx, cartId, cart) => {
      const changed = await decide(cart.lines)
      assertMetadataFits(cart, changed)
      if (changed.set.length === 0 && changed.removed.length === 0) return cart
      return { ...cart, ...(await carts.saveCart(tx, cartId, changed, handle.idleSecondsOf(changed.lines))) }
    })
  }

  /** Changes the metadata of a cart, which a customer's cart can have without lines. @throws `METADATA_LIMIT` */
  const updateMetadata = (
    handle: CartHandle,
    change: MetadataChange,
    write: IdempotentWrite
  ): Promise<CartView> =>
    changeLocked(handle, write, async (tx, cartId, cart) => {
      if (isEmptyPatch(change)) return cart
      assertCustomerWrittenMetadataBytes(mergeMetadata(cart.metadata, change), cart.lines)
      return { ...cart, ...(await saveCartMetadata(tx, cartId, normalizeMetadataChange(change))) }
    })

  /** Changes the quantity of a variant as `next` decides. */
  async function changeQuantity(
    handle: CartHandle,
    variantId: string,
    write: IdempotentWrite,
    next: (lines: readonly CartLine[]) => ChangedCartLines
  ): Promise<CartView> {
    const assertBuyable = await readQuantityCheck(variantId, handle.market)
    return changeCart(handle, write, async lines => {
      const changes = next(lines)
      await assertBuyable(lines, changes.lines)
      return changes
    })
  }

  /** Checks the first line of a new cart. @throws the errors of `addItem` */
  async function assertFirstLine(line: CartLine, market: Market | null): Promise<void> {
    const assertBuyable = await readQuantityCheck(line.variantId, market)
    const change = addCartLine([], line, settings)
    await assertBuyable([], change.lines)
    assertMetadataFits({ metadata: {} }, change)
  }

  /** Adds a line, or its quantity to the equal line. */
  const addItem = (handle: CartHandle, added: CartLine, write: IdempotentWrite): Promise<CartView> =>
    changeQuantity(handle, added.variantId, write, lines => addCartLine(lines, added, settings))

  /** Sets the quantity of the only line of a variant. */
  const updateItem = (
    handle: CartHandle,
    changed: CartItemQuantity,
    write: IdempotentWrite
  ): Promise<CartView> =>
    changeQuantity(handle, changed.variantId, write, lines =>
      setCartVariantQuantity(lines, changed, settings)
    )

  /** Removes the only line of a variant. Does nothing when the cart has no such line. */
  const removeItem = (handle: CartHandle, variantId: string, write: IdempotentWrite): Promise<CartView> =>
    changeCart(handle, write, lines => removeOnlyCartLineOfVariant(lines, variantId))

  /** Changes the quantity or the metadata of a line. Reads the line's variant without a lock, because it never changes. */
  async function updateLine(
    handle: CartHandle,
    lineId: string,
    patch: CartLinePatch,
    write: IdempotentWrite
  ): Promise<CartView> {
    const next = (lines: readonly CartLine[]) => patchCartLine(lines, lineId, patch, settings)
    if (patch.quantity === undefined) return changeCart(handle, write, next)
    const line = await findLine(handle, lineId)
    // Rejects even if a concurrent merge adds the line after this read, because its quantity would not be checked.
    if (line === undefined)
      return changeCart(handle, write, () => {
        throw cartLineNotFoundError()
      })
    return changeQuantity(handle, line.variantId, write, next)
  }

  async function findLine(handle: CartHandle, lineId: string): Promise<CartLine | undefined> {
    const { lines } = await handle.find()
    return lines.find(({ id }) => id === lineId)
  }

  const removeLine = (handle: CartHandle, lineId: string, write: IdempotentWrite): Promise<CartView> =>
    changeCart(handle, write, lines => removeCartLine(lines, lineId))

  const clear = (handle: CartHandle, write: IdempotentWrite): Promise<CartView> =>
    changeCart(handle, write, lines =>
      removeCartLines(
        lines,
        lines.map(({ id }) => id)
      )
    )

  return {
    handleOf,
    view,
    present,
    assertFirstLine,
    addItem,
    updateItem,
    removeItem,
    updateLine,
    removeLine,
    clear,
    updateMetadata,
    findStored: (cartId: string) => carts.findCart(db, cartId),
    count: (cartId: string) => carts.countCartItems(db, cartId)
  }
}

/** A cart without metadata of lines costs nothing here. @throws `METADATA_LIMIT` */
function assertMetadataFits(
  { metadata }: Pick<carts.StoredCart, 'metadata'>,
  { lines, set }: ChangedCartLines
): void {
  if (set.some(line => !isEmptyMetadata(line.metadata))) assertCustomerWrittenMetadataBytes(metadata, lines)
}
