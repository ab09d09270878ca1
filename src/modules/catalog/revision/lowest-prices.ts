import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { LOWEST_ID } from '../../../kernel/ids.ts'
import type { Emit, Enqueue } from '../../../platform/outbox/outbox.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { Statement } from '../../../platform/postgres/statement.ts'
import { CATALOG_CHANGED_EVENT_SUBJECT, catalogChangedEvent } from '../events.ts'
import type { ProductPricesInPriceLists } from '../list-prices/service.ts'
import { repriceManyProductsJob } from './jobs.ts'
import * as repository from './repository.ts'

/** Maximum number of products that a request reprices. A job reprices more. */
export const PRODUCTS_REPRICED_PER_REQUEST_MAX = 2_000
/** Number of products that one statement compares. Takes 20 ms of the server's CPU (2026-11). */
const CHUNK = 200
/** The daily check pauses four times as long as it worked, so that it uses a fifth of one connection. */
const REST_FACTOR = 4
/** This long after a change, every transaction that began before it has ended. */
const LATE_TRANSACTIONS_SECONDS = 60

type ListProducts = Statement<{ id: 'uuid'; limit: 'int8' }, { product_id: 'uuid' }>

/** Returns the products that `list` finds for `id`, at most one more than a request reprices. */
export async function listProductIdsToReprice(
  tx: Transaction,
  list: ListProducts,
  id: string
): Promise<string[]> {
  const rows = await tx.rows(list, { id, limit: PRODUCTS_REPRICED_PER_REQUEST_MAX + 1 })
  return rows.map(row => row.product_id)
}

type Deps = {
  db: Database
  enqueue: Enqueue
  emit: Emit
  currency: string
  listPrices: Pick<ProductPricesInPriceLists, 'reprice' | 'refreshSoon'>
}
type RepriceOptions = {
  /** Limits the work to products in this category and below it, if it exists. */
  categoryId?: string | undefined
  /** Pauses between chunks, because nothing waits for the result. */
  isSlow?: boolean
  signal?: AbortSignal
}

/** The lowest price per product, stored for product lists, at the catalog's own prices and in price lists. */
export function createCheapestVariantPriceService({ db, enqueue, emit, currency, listPrices }: Deps) {
  /** Updates the lowest prices of these products, which `tx` has locked. */
  async function reprice(tx: Transaction, productIds: readonly string[]): Promise<void> {
    await tx.run(repository.updateProductListColumns, { ids: productIds, currency })
    await listPrices.reprice(tx, productIds)
  }

  /**
   * Skips products that another transaction has locked, because that transaction reprices them. Never waits.
   */
  async function repriceUnlocked(tx: Transaction, products: readonly HasId[]): Promise<void> {
    const free = await tx.rows(repository.lockProductsSkippingLocked, { ids: idsOf(products) })
    await reprice(tx, idsOf(free))
  }

  /** Enqueues a job that reprices the products of a category, or all, after the commit of `tx`. */
  function repriceSoon(tx: Transaction, categoryId?: string): void {
    const payload = categoryId === undefined ? {} : { category_id: categoryId }
    enqueue(tx, repriceManyProductsJob, payload, { subject: categoryId ?? LOWEST_ID })
  }

  /**
   * Enqueues that job for a category, and again for a minute later. A transaction that began before the
   * commit of `tx` can add a product to the category after the first job ran.
   */
  function repriceCategorySoon(tx: Transaction, categoryId: string): void {
    repriceSoon(tx, categoryId)
    enqueue(
      tx,
      repriceManyProductsJob,
      { category_id: categoryId },
      { delaySeconds: LATE_TRANSACTIONS_SECONDS }
    )
  }

  /**
   * Applies the starts and ends of discounts that have passed: raises the revision, emits `catalog.changed` and updates the
   * lowest prices of the affected products. A job updates all products when they are too many for one transaction.
   */
  async function repriceDue(): Promise<void> {
    await db.transaction(async tx => {
      const due = await tx.rows(repository.listProductsWithDueDiscounts, {
        limit: PRODUCTS_REPRICED_PER_REQUEST_MAX + 1
      })
      if (due.length <= PRODUCTS_REPRICED_PER_REQUEST_MAX) await repriceUnlocked(tx, due)
      else {
        listPrices.refreshSoon(tx)
        repriceSoon(tx)
      }
      await tx.run(repository.updateDiscountsAppliedAt, { changeId: randomUUID() })
      emit(tx, catalogChangedEvent, CATALOG_CHANGED_EVENT_SUBJECT, {})
    })
  }

  /**
   * Applies changes without a write to the catalog: discounts that started or ended, and the currency of the
   * shop.
   */
  async function hasDueChanges(): Promise<boolean> {
    const revision = await db.first(repository.findCatalogRevision)
    return revision?.is_due === true || revision?.currency !== currency
  }

  async function applyDueChanges(): Promise<void> {
    const revision = await db.first(repository.findCatalogRevision)
    if (revision?.is_due) await repriceDue()
    if (revision?.currency === currency) return
    await db.transaction(async tx => {
      repriceSoon(tx)
      await tx.run(repository.recordLowestPriceCurrency, { changeId: randomUUID(), currency })
    })
  }

  /**
   * Updates the lowest prices of all products, a chunk at a time. Returns the number of products that were
   * wrong; the caller then announces changed pages.
   */
  async function repriceAll({ categoryId, isSlow = false, signal }: RepriceOptions = {}): Promise<number> {
    const isKnown =
      categoryId !== undefined &&
      (await db.first(repository.findExistingCategoryId, { id: categoryId })) !== undefined
    const listAfter = (after: string) =>
      isKnown
        ? db.rows(repository.listCategorySubtreeProductIdsAfter, {
            category: categoryId,
            after,
            limit: CHUNK
          })
        : db.rows(repository.listProductIdsAfter, { after, limit: CHUNK })
    let changed = 0
    let chunk = await listAfter(LOWEST_ID)
    for (let last = chunk.at(-1); last !== undefined; last = chunk.at(-1)) {
      signal?.throwIfAborted()
      const startedAt = performance.now()
      const mispriced = await db.rows(repository.listMispricedProducts, { ids: idsOf(chunk), currency })
      if (mispriced.length > 0) await db.transaction(tx => repriceUnlocked(tx, mispriced))
      changed += mispriced.length
      if (isSlow && chunk.length === CHUNK)
        await delay((performance.now() - startedAt) * REST_FACTOR, undefined, { signal })
      chunk = await listAfter(last.id)
    }
    return changed
  }

  return {
    reprice,
    repriceDue,
    hasDueChanges,
    applyDueChanges,
    repriceAll,
    repriceCategorySoon,
    refreshListsSoon: listPrices.refreshSoon
  }
}
export type CheapestVariantPriceService = ReturnType<typeof createCheapestVariantPriceService>

type HasId = { readonly id: string }
const idsOf = (rows: readonly HasId[]): string[] => rows.map(({ id }) => id)
