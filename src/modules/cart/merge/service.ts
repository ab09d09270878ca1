import type { Database, Transaction } from '../../../platform/postgres.ts'
import type { Write } from '../../../platform/write.ts'
import type { CatalogApi } from '../../catalog/index.ts'
import { guestCartNotFound } from '../errors.ts'
import * as guests from '../guest/repository.ts'
import { guestCartTokenHash } from '../guest/token.ts'
import type { Line } from '../lines.ts'
import { withLines } from '../lines.ts'
import * as carts from '../repository.ts'
import { type CartService, type CartSettings, expectVersion } from '../service.ts'
import type { Stock } from '../stock.ts'
import type { CartView } from '../view.ts'
import { type Adjustment, type AvailabilityOf, type MergeStrategy, mergeLines, sumByVariant } from './rule.ts'

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
  cart: CartService
  catalog: CatalogApi
  stock: Stock | undefined
  settings: CartSettings
}
export type MergeService = ReturnType<typeof createMergeService>

type Guest = { tokenHash: Buffer; cartId: string; lines: readonly Line[] }

/** Merges what somebody put into a cart before logging in into the cart of their account. */
export function createMergeService({ db, cart, catalog, stock, settings }: MergeDeps) {
  /**
   * One transaction: both carts locked (the token first, then the carts in the order of their ids), lines merged,
   * token spent. The same token again, for the same customer, is answered `already_merged` and changes nothing.
   * @throws `CART_GUEST_NOT_FOUND` when the token is unknown, expired, or was used by somebody else.
   */
  async function merge(
    customerId: string,
    source: MergeSource,
    strategy: MergeStrategy,
    write: Write
  ): Promise<{ view: CartView; report: MergeReport }> {
    const { stored, report } = await db.transaction(async tx => {
      const guest = 'items' in source ? source : await lockGuest(tx, source.guestCartToken, customerId)
      const present = await carts.lock(tx, customerId, settings.idleDays)
      if (guest === 'already merged' || write.alreadyApplied) {
        return { stored: present, report: nothing('already_merged', strategy) }
      }
      expectVersion(present, write)
      const guestLines = 'items' in guest ? sumByVariant(guest.items) : guest.lines
      const availabilityOf = await readAvailability(guestLines)
      const { changed, adjustments } = mergeLines(
        present.lines,
        guestLines,
        strategy,
        settings,
        availabilityOf
      )
      const stored = await setLines(tx, customerId, present, changed)
      if ('tokenHash' in guest) await guests.consume(tx, guest, customerId)
      await write.markApplied(tx)
      if (guestLines.length === 0) return { stored, report: nothing('nothing_to_merge', strategy) }
      return { stored, report: { status: 'merged' as const, strategy, moved: changed.length, adjustments } }
    })
    return { view: await cart.present(customerId, stored), report }
  }

  async function lockGuest(
    tx: Transaction,
    token: string,
    customerId: string
  ): Promise<Guest | 'already merged'> {
    const tokenHash = guestCartTokenHash(token)
    const found = tokenHash && (await guests.lock(tx, tokenHash))
    if (found === undefined) throw guestCartNotFound()
    if (found.mergedInto === customerId) return 'already merged'
    if (found.mergedInto !== null || found.expired) throw guestCartNotFound()
    // The smaller id first, whoever's it is: two transactions never wait for each other in a circle.
    if (customerId < found.cartId) await carts.lock(tx, customerId, settings.idleDays)
    const { lines } = await carts.lock(tx, found.cartId, settings.idleDays)
    return { tokenHash: tokenHash as Buffer, cartId: found.cartId, lines }
  }

  async function setLines(tx: Transaction, customerId: string, present: carts.StoredCart, changed: Line[]) {
    if (changed.length === 0) return present
    await carts.upsert(tx, customerId, changed)
    const updated = await carts.update(tx, customerId, settings.idleDays)
    return { ...updated, lines: withLines(present.lines, changed) }
  }

  async function readAvailability(lines: readonly Line[]): Promise<AvailabilityOf> {
    const variantIds = lines.map(line => line.variantId)
    const offers = await catalog.offers(variantIds)
    const stocks = await stock?.available(variantIds)
    const available = new Map(
      variantIds.map((id, index) => [id, offers[index] === undefined ? undefined : (stocks?.[index] ?? null)])
    )
    return variantId => available.get(variantId)
  }

  return { merge }
}

const nothing = (status: MergeReport['status'], strategy: MergeStrategy): MergeReport => ({
  status,
  strategy,
  moved: 0,
  adjustments: []
})
