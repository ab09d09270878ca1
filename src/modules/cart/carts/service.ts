import { type BuyingRule, fits } from '../../../kernel/buying-rule.ts'
import type { DomainError } from '../../../kernel/errors.ts'
import type { Write } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { CatalogApi } from '../../catalog/index.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import type { Market } from '../../pricing/index.ts'
import { cartStale, insufficientStock, quantityRuleBroken, variantUnavailable } from '../errors.ts'
import {
  addLine,
  type CartLimits,
  type Line,
  type LineChange,
  removingLines,
  setLine,
  settingLines
} from './lines.ts'
import * as carts from './repository.ts'
import { type CartView, type NamedLine, viewOf } from './view.ts'

export type CartSettings = CartLimits & { readonly idleSeconds: number; readonly currency: string }
export type CartDeps = {
  db: Database
  catalog: CatalogApi
  /** Absent: nobody counts. */
  inventory: Pick<InventoryApi, 'available'> | undefined
  settings: CartSettings
}
export type CartService = ReturnType<typeof createCartService>

/** Who reads or changes a cart, and where they buy; `market` is null where nothing is said of markets. */
export type Customer = { readonly customerId: string; readonly market: Market | null }
type Buyer = { readonly customerId: string | null; readonly market: Market | null }

/**
 * Which cart a change is for. A customer's cart is named by the customer's id; a guest's must be found, and its
 * token held, inside the transaction of the change, so that no change slips behind a merge.
 */
export type CartOwner = Buyer & {
  /** Requests with the same one lock the same cart. */
  key: string
  lockCartId(tx: Transaction): Promise<string>
  /** Which cart it is, without holding it. */
  findCartId(): Promise<string>
  /** After so long without a change the cart expires; an empty one of a customer never does. */
  idleSecondsOf(lines: readonly Line[]): number | null
}

/** Carts: quantities by variant in the database, everything else from the catalog when a cart is read. */
export function createCartService({ db, catalog, inventory, settings }: CartDeps) {
  /** Joins a stored cart with the catalog. */
  async function present({ customerId, market }: Buyer, cart: carts.StoredCart): Promise<CartView> {
    const variantIds = cart.lines.map(line => line.variantId)
    const [offers, stock] = await Promise.all([
      catalog.offers(cart.lines, market),
      inventory?.available(variantIds)
    ])
    const joined = viewOf(cart.lines, offers, stock)
    const unavailable = joined.unavailable.length === 0 ? [] : await named(joined.unavailable)
    const { version, updatedAt } = cart
    const currency = market?.currency ?? settings.currency
    return { customerId, currency, version, updatedAt, ...joined, unavailable }
  }

  /** One statement more, and only for what cannot be bought any more. */
  async function named(lines: readonly Line[]): Promise<NamedLine[]> {
    const names = await catalog.names(lines.map(line => line.variantId))
    return lines.map((line, index) => ({ ...line, name: names[index] ?? null }))
  }

  const view = async (customer: Customer): Promise<CartView> =>
    present(customer, await carts.findCart(db, customer.customerId))

  const ownedBy = ({ customerId, market }: Customer): CartOwner => ({
    customerId,
    market,
    key: customerId,
    lockCartId: async () => customerId,
    findCartId: async () => customerId,
    idleSecondsOf: lines => (lines.length === 0 ? null : settings.idleSeconds)
  })

  const saveTogether = db.inBatches((changes: readonly carts.UnheldChange[]) =>
    carts.saveUnchanged(db, changes)
  )
  /** Carts of which a change is on its way, unheld. */
  const underWay = new Set<string>()

  async function saveUnheld(change: carts.UnheldChange): Promise<carts.StoredCart | undefined> {
    const { cartId } = change
    if (underWay.has(cartId)) return undefined
    underWay.add(cartId)
    try {
      return await saveTogether(change)
    } finally {
      underWay.delete(cartId)
    }
  }

  type Decide = (lines: readonly Line[]) => LineChange | Promise<LineChange>

  /**
   * Decides about the cart as it is read, and writes when it is still that one: that costs less than to hold it, and
   * hardly ever does somebody else change the same cart meanwhile. `undefined` when somebody did, or holds it.
   */
  async function changeUnheld({ customerId, key, idleSecondsOf }: CartOwner, write: Write, decide: Decide) {
    // Where others are at it, the cart would be another one by the time it is written.
    if (customerId === null || write.alreadyApplied) return undefined
    if (db.isTurnTaken(key) || underWay.has(customerId)) return undefined
    const cart = await carts.findCart(db, customerId)
    if (cart.updatedAt === null) return undefined
    write.expect(cart.version, cartStale)
    const change = await decide(cart.lines)
    if (change.set.length === 0 && change.removed.length === 0) return undefined
    const idleSeconds = idleSecondsOf(change.lines)
    const decided = { cartId: customerId, version: cart.version, change, idleSeconds }
    return write.onceIfUnchanged(db.inTurn(key), async tx =>
      tx === undefined ? saveUnheld(decided) : (await carts.saveUnchanged(tx, [decided]))[0]
    )
  }

  /** One change of one cart: lock, compare the version, decide, and write when something changes. */
  async function change(owner: CartOwner, write: Write, decide: Decide): Promise<CartView> {
    const changed = await changeUnheld(owner, write, decide)
    if (changed !== undefined) return present(owner, changed)
    const stored = await write.once(db.inTurn(owner.key), async tx => {
      const cartId = await owner.lockCartId(tx)
      const cart = await carts.lock(tx, cartId)
      write.expect(cart.version, cartStale)
      const changed = await decide(cart.lines)
      if (changed.set.length === 0 && changed.removed.length === 0) return cart
      return carts.save(tx, cartId, changed, owner.idleSecondsOf(changed.lines))
    })
    return present(owner, stored ?? (await carts.findCart(db, await owner.findCartId())))
  }

  /**
   * One line as `next` makes it of the lines that are there. What the catalog says is asked for before the cart is
   * held, and judged only when this request was not done before.
   */
  async function setOne(
    owner: CartOwner,
    wanted: Line,
    write: Write,
    next: (lines: readonly Line[]) => Line
  ): Promise<CartView> {
    const [[offer], stock] = await Promise.all([
      catalog.offers([wanted], owner.market),
      inventory?.available([wanted.variantId])
    ])
    return change(owner, write, async lines => {
      const line = next(lines)
      if (offer === undefined) throw await whyNotForSale(wanted.variantId)
      refuseUnfit(line.quantity, offer.rule)
      const available = stock?.[0] ?? null
      if (available !== null && line.quantity > available) throw insufficientStock({ details: { available } })
      return settingLines(lines, [line])
    })
  }

  /** Adds to the line of the variant, or makes one. */
  const addItem = (owner: CartOwner, added: Line, write: Write): Promise<CartView> =>
    setOne(owner, added, write, lines => addLine(lines, added, settings))

  /** Sets the quantity of a line that is there. */
  const updateItem = (owner: CartOwner, changed: Line, write: Write): Promise<CartView> =>
    setOne(owner, changed, write, lines => setLine(lines, changed, settings))

  /** Takes a line out; one that is not there is no error. */
  const removeItem = (owner: CartOwner, variantId: string, write: Write): Promise<CartView> =>
    change(owner, write, lines => removingLines(lines, [variantId]))

  const clear = (owner: CartOwner, write: Write): Promise<CartView> =>
    change(owner, write, lines =>
      removingLines(
        lines,
        lines.map(line => line.variantId)
      )
    )

  /** @throws `CATALOG_VARIANT_NOT_FOUND` when there never was such a variant. */
  async function whyNotForSale(variantId: string): Promise<DomainError> {
    await catalog.requireVariant(variantId)
    return variantUnavailable()
  }

  return {
    ownedBy,
    view,
    present,
    addItem,
    updateItem,
    removeItem,
    clear,
    stored: (cartId: string) => carts.findCart(db, cartId),
    count: (cartId: string) => carts.count(db, cartId)
  }
}

/** @throws `CART_QUANTITY_RULE` */
function refuseUnfit(quantity: number, rule: BuyingRule): void {
  if (fits(quantity, rule)) return
  const { min, max, step } = rule
  throw quantityRuleBroken({ details: { quantity_min: min, quantity_max: max, quantity_step: step } })
}
