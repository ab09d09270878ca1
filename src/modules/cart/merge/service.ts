import type { Write } from '../../../platform/idempotency/write.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { CatalogApi } from '../../catalog/index.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import { type Line, settingLines } from '../carts/lines.ts'
import * as carts from '../carts/repository.ts'
import type { CartService, CartSettings, Customer } from '../carts/service.ts'
import type { CartView } from '../carts/view.ts'
import { cartStale, guestCartNotFound } from '../errors.ts'
import { cartMerged } from '../events.ts'
import * as guests from '../guest/repository.ts'
import { guestCartTokenHash } from '../guest/token.ts'
import { type Adjustment, type MergeStrategy, mergeLines, type SellableOf, sumByVariant } from './rule.ts'

/** What to merge: the cart of a guest's token, or lines that a browser kept. */
export type MergeSource = { guestCartToken: string } | { items: readonly Line[] }
export type MergeReport = {
  status: 'merged' | 'already_merged' | 'nothing_to_merge'
  strategy: MergeStrategy
  /** How many lines of the customer's cart are new or changed. */
  moved: number
  adjustments: Adjustment[]
}
export type MergeDeps = {
  db: Database
  emit: Emit
  cart: CartService
  catalog: CatalogApi
  inventory: Pick<InventoryApi, 'available'> | undefined
  settings: CartSettings
}
export type MergeService = ReturnType<typeof createMergeService>

type Guest = { tokenHash: Buffer; cartId: string; lines: readonly Line[] }

/** Merges what somebody put into a cart before logging in into the cart of their account. */
export function createMergeService({ db, emit, cart, catalog, inventory, settings }: MergeDeps) {
  /**
   * One transaction: both carts locked (the token first, then the carts in the order of their ids), lines merged,
   * token spent. The same token again, for the same customer, is answered `already_merged` and changes nothing.
   * @throws `CART_GUEST_NOT_FOUND` when the token is unknown, expired, or was used by somebody else.
   */
  async function merge(
    customer: Customer,
    source: MergeSource,
    strategy: MergeStrategy,
    write: Write
  ): Promise<{ view: CartView; report: MergeReport }> {
    const { customerId, market } = customer
    if (await isMerged(source, customerId)) return unchanged(customer, strategy)
    const merged = await write.once(db.inTurn(customerId), async tx => {
      const guest = 'items' in source ? source : await lockGuest(tx, source.guestCartToken, customerId)
      const present = await carts.lock(tx, customerId)
      write.expect(present.version, cartStale)
      if (guest === 'already merged') return { stored: present, report: nothing('already_merged', strategy) }
      const guestLines = 'items' in guest ? sumByVariant(guest.items) : guest.lines
      const { changed, adjustments } = mergeLines(
        present.lines,
        guestLines,
        strategy,
        settings,
        await readSellable(guestLines, market)
      )
      const stored = await setLines(tx, customer, present, changed)
      if ('tokenHash' in guest) await consume(tx, guest, customerId)
      if (guestLines.length === 0) return { stored, report: nothing('nothing_to_merge', strategy) }
      const moved = changed.length
      emit(tx, cartMerged, customerId, { customer_id: customerId, strategy, moved })
      return { stored, report: { status: 'merged' as const, strategy, moved, adjustments } }
    })
    if (merged === undefined) return unchanged(customer, strategy)
    return { view: await cart.present(customer, merged.stored), report: merged.report }
  }

  /** Whether this customer has the guest's lines already: then nothing is written, whatever version was expected. */
  async function isMerged(source: MergeSource, customerId: string): Promise<boolean> {
    const tokenHash = 'items' in source ? undefined : guestCartTokenHash(source.guestCartToken)
    if (tokenHash === undefined) return false
    return (await db.first(guests.findMergedInto, { tokenHash }))?.merged_into === customerId
  }

  const unchanged = async (customer: Customer, strategy: MergeStrategy) => ({
    view: await cart.view(customer),
    report: nothing('already_merged', strategy)
  })

  async function lockGuest(
    tx: Transaction,
    token: string,
    customerId: string
  ): Promise<Guest | 'already merged'> {
    const tokenHash = guestCartTokenHash(token)
    const found = tokenHash && (await tx.first(guests.lockGuestCart, { tokenHash }))
    if (found === undefined) throw guestCartNotFound()
    if (found.merged_into === customerId) return 'already merged'
    if (found.merged_into !== null || found.is_expired) throw guestCartNotFound()
    // The smaller id first, whoever's it is: two transactions never wait for each other in a circle.
    if (customerId < found.cart_id) await carts.lock(tx, customerId)
    const { lines } = await carts.lock(tx, found.cart_id)
    return { tokenHash: tokenHash as Buffer, cartId: found.cart_id, lines }
  }

  async function setLines(tx: Transaction, customer: Customer, present: carts.StoredCart, changed: Line[]) {
    if (changed.length === 0) return present
    const owner = cart.ownedBy(customer)
    const change = settingLines(present.lines, changed)
    return carts.save(tx, customer.customerId, change, owner.idleSecondsOf(change.lines))
  }

  /** The token is spent and its cart deleted. */
  async function consume(tx: Transaction, { tokenHash, cartId }: Guest, customerId: string): Promise<void> {
    await tx.run(guests.markMerged, { tokenHash, customerId })
    await tx.run(guests.deleteCart, { cartId })
  }

  async function readSellable(lines: readonly Line[], market: Customer['market']): Promise<SellableOf> {
    const variantIds = lines.map(line => line.variantId)
    const [offers, stock] = await Promise.all([
      catalog.offers(lines, market),
      inventory?.available(variantIds)
    ])
    const sellable = new Map(
      offers.map((offer, index) => [
        variantIds[index],
        offer && { stock: stock?.[index] ?? null, rule: offer.rule }
      ])
    )
    return variantId => sellable.get(variantId)
  }

  return { merge }
}

const nothing = (status: MergeReport['status'], strategy: MergeStrategy): MergeReport => ({
  status,
  strategy,
  moved: 0,
  adjustments: []
})
