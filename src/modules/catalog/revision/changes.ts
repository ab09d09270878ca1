import { randomUUID } from 'node:crypto'
import { settleAllOrThrow } from '../../../kernel/settle-all-or-throw.ts'
import type { Broadcast } from '../../../platform/broadcast.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import { createTransactionValue } from '../../../platform/postgres/transaction-value.ts'
import { CATALOG_CHANGED_EVENT_SUBJECT, catalogChangedEvent, productChangedEvent } from '../events.ts'
import { type CheapestVariantPriceService, PRODUCTS_REPRICED_PER_REQUEST_MAX } from './lowest-prices.ts'
import * as repository from './repository.ts'

const TOPIC = 'catalog'
const ALL = 'all'
const IDS_A_MESSAGE = 200 // 7,400 of the 7,900 bytes that a message can have
const IDS_MAX = 5_000

/**
 * Ids of the variants whose cached offers (price, and whether they can be bought) may be out of date. Empty when only cached
 * responses of the catalog are.
 */
type ChangedVariants = readonly string[] | 'all'
type ChangeSubscriber = {
  onChange(variantIds: ChangedVariants): void
  /** Messages about changes may have been missed: the subscriber must drop all cached data. */
  onGap(): void
}

export type CatalogChangePublisher = {
  /**
   * Updates the lowest prices of changed products within `tx`, and invalidates the caches of all processes at
   * the commit. This process does so before `tx` returns, others within a second. Call it after each change,
   * as often as needed, with products that `tx` has locked and variants that it deleted.
   */
  announce(
    tx: Transaction,
    productIds: readonly string[],
    deletedVariantIds?: readonly string[]
  ): Promise<void>
  /**
   * Announces a change of a category or of its discount. Every offer may have changed, because concurrent
   * transactions can add products to the category. A job updates the prices of those, and of more than 2,000
   * products.
   */
  announceCategory(tx: Transaction, categoryId: string, productIds: readonly string[]): Promise<void>
  /**
   * Announces a change that affects pages but no offer of the catalog, such as of a field of a category or of a price list. Emits
   * `catalog.changed` and invalidates cached pages at the commit.
   */
  announcePages(tx: Transaction): void
  subscribe(subscriber: ChangeSubscriber): void
  /** Whether messages about changes arrive. While it is false, nothing may be cached. */
  isLive(): boolean
}

/**
 * The changes that a run of a transaction has announced so far. Null: any offer or product may have changed.
 */
type Announced = {
  variantIds: Set<string> | null
  productIds: Set<string> | null
  affectsAnyPage: boolean
}
type Deps = { broadcast: Broadcast; emit: Emit; lowestPrices: CheapestVariantPriceService }

export function createCatalogChangePublisher({
  broadcast,
  emit,
  lowestPrices
}: Deps): CatalogChangePublisher {
  const subscribers: ChangeSubscriber[] = []
  const notifySubscribers = (message: string) => {
    const variantIds = message === ALL ? ALL : message.split(',').filter(id => id !== '')
    for (const subscriber of subscribers) subscriber.onChange(variantIds)
  }
  broadcast.subscribe(TOPIC, {
    onMessage: notifySubscribers,
    onGap: () => {
      for (const subscriber of subscribers) subscriber.onGap()
    }
  })

  async function reprice(tx: Transaction, productIds: readonly string[]) {
    await tx.run(repository.lockProductRows, { ids: productIds })
    await lowestPrices.reprice(tx, productIds)
  }

  /** Returns the announced changes of `tx`. The first call registers their publication at the commit. */
  const announcedIn = createTransactionValue((tx): Announced => {
    const announced: Announced = { variantIds: new Set(), productIds: new Set(), affectsAnyPage: false }
    // All changes of the catalog lock the row of the revision, so it is updated as late as possible.
    tx.beforeCommit(async () => {
      const ids = [...(announced.productIds ?? [])]
      const [versions] = await settleAllOrThrow([
        ids.length === 0 ? [] : tx.rows(repository.listProductVersions, { ids }),
        tx.run(repository.incrementCatalogRevision, { changeId: randomUUID() })
      ])
      for (const message of messagesOf(announced)) await broadcast.publish(tx, TOPIC, message)
      if (announced.productIds === null || announced.affectsAnyPage)
        emit(tx, catalogChangedEvent, CATALOG_CHANGED_EVENT_SUBJECT, {})
      const versionOf = new Map(versions.map(({ id, version }) => [id, version]))
      for (const id of ids)
        emit(tx, productChangedEvent, { id, version: versionOf.get(id) ?? null }, { product_id: id })
    })
    // The broadcast reaches this process only some milliseconds after the commit, so it is notified directly:
    // the caller reads its own change then.
    tx.afterCommit(() => {
      for (const message of messagesOf(announced)) notifySubscribers(message)
    })
    return announced
  })

  return {
    announce: async (tx, productIds, deletedVariantIds = []) => {
      await reprice(tx, productIds)
      const announced = announcedIn(tx)
      for (const id of productIds) announced.productIds?.add(id)
      if (announced.variantIds === null) return
      const rows = await tx.rows(repository.listVariantIdsOfProducts, { productIds, limit: IDS_MAX + 1 })
      for (const { id } of rows) announced.variantIds.add(id)
      for (const id of deletedVariantIds) announced.variantIds.add(id)
      if (announced.variantIds.size > IDS_MAX) announced.variantIds = null
    },
    announceCategory: async (tx, categoryId, productIds) => {
      if (productIds.length <= PRODUCTS_REPRICED_PER_REQUEST_MAX) await reprice(tx, productIds)
      else lowestPrices.refreshListsSoon(tx)
      lowestPrices.repriceCategorySoon(tx, categoryId)
      Object.assign(announcedIn(tx), { variantIds: null, productIds: null })
    },
    announcePages: tx => {
      announcedIn(tx).affectsAnyPage = true
    },
    isLive: broadcast.isLive,
    subscribe: subscriber => subscribers.push(subscriber)
  }
}

function messagesOf({ variantIds }: Announced): string[] {
  if (variantIds === null) return [ALL]
  const ids = [...variantIds]
  const messages = Math.max(1, Math.ceil(ids.length / IDS_A_MESSAGE))
  return Array.from({ length: messages }, (_, index) =>
    ids.slice(index * IDS_A_MESSAGE, (index + 1) * IDS_A_MESSAGE).join(',')
  )
}

// Limits the drift between the clocks of this process and of the database. The process's clock can stop while
// the machine sleeps.
const TRUSTED_SECONDS = 3_600

/**
 * Returns until when data can be cached, in milliseconds of the monotonic clock. The data was read at
 * `startedAt` and changes in `seconds`, by the clock of the database. Null: it does not change with time.
 */
export const catalogCacheDeadlineOf = (startedAt: number, seconds: number | null): number =>
  startedAt + Math.min(seconds ?? TRUSTED_SECONDS, TRUSTED_SECONDS) * 1_000
