import {
  addMissingMetadataKeys,
  CUSTOMER_WRITTEN_METADATA_BYTES_MAX,
  type Metadata,
  mergeEqualLines,
  sumMetadataBytes
} from '../../../kernel/metadata.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { CatalogApi } from '../../catalog/index.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import { type CartLine, computeUpsertedCartLineChanges } from '../carts/lines.ts'
import { saveCartMetadata } from '../carts/metadata-repository.ts'
import * as carts from '../carts/repository.ts'
import type { CartService, CartServiceSettings, CustomerInMarket } from '../carts/service.ts'
import type { CartView } from '../carts/view.ts'
import { cartStaleError, guestCartNotFoundError } from '../errors.ts'
import { cartMergedEvent } from '../events.ts'
import * as guests from '../guest/repository.ts'
import { hashGuestCartToken } from '../guest/token.ts'
import {
  type CartMergeAdjustment,
  type CartMergeStrategy,
  type FindSellableVariantLimits,
  lineMetadataBytesMaxOf,
  mergeCartLines
} from './rule.ts'

/** What to merge: the cart of a guest cart token, or items that a browser stored. */
export type CartMergeSource = { guestCartToken: string } | { items: readonly CartLine[] }
export type CartMergeReport = {
  status: 'merged' | 'already_merged' | 'nothing_to_merge'
  strategy: CartMergeStrategy
  /** The number of lines of the customer's cart that are new or changed. */
  moved: number
  adjustments: CartMergeAdjustment[]
}
export type CartMergeDeps = {
  db: Database
  emit: Emit
  cart: CartService
  catalog: CatalogApi
  inventory: Pick<InventoryApi, 'available'> | undefined
  settings: CartServiceSettings
}
export type CartMergeService = ReturnType<typeof createCartMergeService>

type LockedGuestCart = {
  tokenHash: Buffer
  cartId: string
  lines: readonly CartLine[]
  metadata: Metadata
}

/** Merges the cart of a guest who has logged in into the cart of their account. */
export function createCartMergeService({ db, emit, cart, catalog, inventory, settings }: CartMergeDeps) {
  /**
   * Merges in one transaction: locks the token, then both carts in the order of their ids, merges the lines,
   * and marks the token as merged. The same token again, for the same customer, returns `already_merged` and
   * changes nothing.
   * @throws `CART_GUEST_NOT_FOUND` when the token is unknown, expired, or was merged by another customer.
   */
  async function merge(
    customer: CustomerInMarket,
    source: CartMergeSource,
    strategy: CartMergeStrategy,
    write: IdempotentWrite
  ): Promise<{ view: CartView; report: CartMergeReport }> {
    const { customerId, market } = customer
    if (await isMerged(source, customerId)) return unchanged(customer, strategy)
    const merged = await write.once(db.serializedBy(customerId), async tx => {
      const guest = 'items' in source ? source : await lockGuest(tx, source.guestCartToken, customerId)
      const present = await carts.lockOrCreateCart(tx, customerId)
      write.expect(present.version, cartStaleError)
      if (guest === 'already merged')
        return { stored: present, report: emptyReport('already_merged', strategy) }
      // Items that a browser stored can repeat a line.
      const guestLines = 'items' in guest ? mergeEqualLines(guest.items) : guest.lines
      const { changed, adjustments } = mergeCartLines({
        customer: present.lines,
        guest: guestLines,
        strategy,
        limits: { ...settings, metadataBytesMax: lineMetadataBytesMaxOf(present) },
        sellableOf: await readSellable(guestLines, market)
      })
      const merged = await saveLines(tx, customer, present, changed)
      const stored = 'items' in guest ? merged : await addMetadata(tx, customerId, merged, guest.metadata)
      if ('tokenHash' in guest) await spendToken(tx, guest, customerId)
      if (guestLines.length === 0) return { stored, report: emptyReport('nothing_to_merge', strategy) }
      const moved = changed.length
      emit(tx, cartMergedEvent, customerId, { customer_id: customerId, strategy, moved })
      return { stored, report: { status: 'merged' as const, strategy, moved, adjustments } }
    })
    if (merged === undefined) return unchanged(customer, strategy)
    return { view: await cart.present(customer, merged.stored), report: merged.report }
  }

  /**
   * Whether this guest cart was merged into this customer's cart before. For such a retry, If-Match is
   * ignored and nothing is written.
   */
  async function isMerged(source: CartMergeSource, customerId: string): Promise<boolean> {
    const tokenHash = 'items' in source ? undefined : hashGuestCartToken(source.guestCartToken)
    if (tokenHash === undefined) return false
    return (await db.first(guests.findMergedCustomerId, { tokenHash }))?.merged_into === customerId
  }

  const unchanged = async (customer: CustomerInMarket, strategy: CartMergeStrategy) => ({
    view: await cart.view(customer),
    report: emptyReport('already_merged', strategy)
  })

  async function lockGuest(
    tx: Transaction,
    token: string,
    customerId: string
  ): Promise<LockedGuestCart | 'already merged'> {
    const tokenHash = hashGuestCartToken(token)
    const found = tokenHash && (await tx.first(guests.lockGuestCart, { tokenHash }))
    if (found === undefined) throw guestCartNotFoundError()
    if (found.merged_into === customerId) return 'already merged'
    if (found.merged_into !== null || found.is_expired) throw guestCartNotFoundError()
    // Both carts are locked in the order of their ids, so that two merges cannot deadlock.
    if (customerId < found.cart_id) await carts.lockOrCreateCart(tx, customerId)
    const { lines, metadata } = await carts.lockOrCreateCart(tx, found.cart_id)
    return { tokenHash: tokenHash as Buffer, cartId: found.cart_id, lines, metadata }
  }

  async function saveLines(
    tx: Transaction,
    customer: CustomerInMarket,
    present: carts.StoredCart,
    changed: CartLine[]
  ) {
    if (changed.length === 0) return present
    const handle = cart.handleOf(customer)
    const change = computeUpsertedCartLineChanges(present.lines, changed)
    const saved = await carts.saveCart(tx, customer.customerId, change, handle.idleSecondsOf(change.lines))
    return { ...present, ...saved }
  }

  /** Adds the keys that the customer's cart lacks, as far as its limits allow. */
  async function addMetadata(
    tx: Transaction,
    customerId: string,
    present: carts.StoredCart,
    added: Metadata
  ): Promise<carts.StoredCart> {
    const ofLines = sumMetadataBytes(present.lines.map(line => line.metadata))
    const metadata = addMissingMetadataKeys(
      present.metadata,
      added,
      CUSTOMER_WRITTEN_METADATA_BYTES_MAX - ofLines
    )
    if (metadata === present.metadata) return present
    return { ...present, ...(await saveCartMetadata(tx, customerId, metadata)) }
  }

  /** Marks the token as merged and deletes its cart. */
  async function spendToken(
    tx: Transaction,
    { tokenHash, cartId }: LockedGuestCart,
    customerId: string
  ): Promise<void> {
    await tx.run(guests.markGuestCartMerged, { tokenHash, customerId })
    await tx.run(guests.deleteGuestCart, { cartId })
  }

  async function readSellable(
    lines: readonly CartLine[],
    market: CustomerInMarket['market']
  ): Promise<FindSellableVariantLimits> {
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

const emptyReport = (status: CartMergeReport['status'], strategy: CartMergeStrategy): CartMergeReport => ({
  status,
  strategy,
  moved: 0,
  adjustments: []
})
