import { setTimeout as delay } from 'node:timers/promises'
import { FIRST_ID } from '../../../kernel/ids.ts'
import type { Enqueue } from '../../../platform/outbox/outbox.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { Statement } from '../../../platform/postgres/statement.ts'
import type { ListPrices } from '../list-prices/service.ts'
import { repriceProducts } from './jobs.ts'
import * as repository from './repository.ts'

/** The prices of more products than these are brought up to date in the background, because somebody is waiting. */
export const REPRICED_AT_ONCE_MAX = 2_000
/** How many products one statement compares: 20 ms of the server's CPU (2026-11). */
const CHUNK = 200
/** The daily check rests so many times as long as it worked, so that it takes a fifth of one connection. */
const REST_FACTOR = 4
/** By then each transaction that began before a change has ended. */
const STRAGGLERS_SECONDS = 60

type ListProducts = Statement<{ id: 'uuid'; limit: 'int8' }, { product_id: 'uuid' }>

/** The products that `list` finds for `id`; one more than are repriced at once, when there are too many. */
export async function listProductIds(tx: Transaction, list: ListProducts, id: string): Promise<string[]> {
  const rows = await tx.rows(list, { id, limit: REPRICED_AT_ONCE_MAX + 1 })
  return rows.map(row => row.product_id)
}

type Deps = {
  db: Database
  enqueue: Enqueue
  currency: string
  listPrices: Pick<ListPrices, 'reprice' | 'refreshSoon'>
}
type Look = {
  /** Only products in this category and below it, if it exists. */
  categoryId?: string | undefined
  /** Rests between chunks, because nothing waits for the result. */
  isSlow?: boolean
  signal?: AbortSignal
}

/** What products cost at least, in the catalog's own prices and in those of price lists: kept for lists of products. */
export function createLowestPrices({ db, enqueue, currency, listPrices }: Deps) {
  /** Brings those of these products, which `tx` has locked, up to date. */
  async function reprice(tx: Transaction, productIds: readonly string[]): Promise<void> {
    await tx.run(repository.repriceProducts, { ids: productIds, currency })
    await listPrices.reprice(tx, productIds)
  }

  /** Products that somebody is changing at this moment are left to them: nobody waits for an import here. */
  async function repriceFree(tx: Transaction, products: readonly Identified[]): Promise<void> {
    const free = await tx.rows(repository.lockFreeProducts, { ids: idsOf(products) })
    await reprice(tx, idsOf(free))
  }

  /** Enqueues a job that brings the products of a category, or all, up to date after the commit of `tx`. */
  function repriceSoon(tx: Transaction, categoryId?: string): void {
    const payload = categoryId === undefined ? {} : { category_id: categoryId }
    enqueue(tx, repriceProducts, payload, { subject: categoryId ?? FIRST_ID })
  }

  /**
   * The same, and again a minute later: a transaction that began before the commit of `tx` did not see it, and may put a
   * product into the category after the first job has looked there.
   */
  function repriceWithStragglers(tx: Transaction, categoryId: string): void {
    repriceSoon(tx, categoryId)
    enqueue(tx, repriceProducts, { category_id: categoryId }, { delaySeconds: STRAGGLERS_SECONDS })
  }

  /**
   * Notes the starts and ends of discounts that have passed: a new revision, and new lowest prices for the products
   * concerned. When these are too many for one transaction, a job brings all products up to date.
   */
  async function repriceDue(): Promise<void> {
    await db.transaction(async tx => {
      const due = await tx.rows(repository.listDueProducts, { limit: REPRICED_AT_ONCE_MAX + 1 })
      if (due.length <= REPRICED_AT_ONCE_MAX) await repriceFree(tx, due)
      else {
        listPrices.refreshSoon(tx)
        repriceSoon(tx)
      }
      await tx.run(repository.markPriced)
    })
  }

  /** Applies what has changed without a write to the catalog: discounts that started or ended, the shop's currency. */
  async function repriceChanged(): Promise<void> {
    const revision = await db.first(repository.findRevision)
    if (revision?.is_due) await repriceDue()
    if (revision?.currency === currency) return
    await db.transaction(async tx => {
      repriceSoon(tx)
      await tx.run(repository.markCurrency, { currency })
    })
  }

  /** Brings the lowest prices of all products up to date, a chunk at a time, and returns how many were wrong. */
  async function repriceAll({ categoryId, isSlow = false, signal }: Look = {}): Promise<number> {
    const isKnown =
      categoryId !== undefined &&
      (await db.first(repository.findCategoryId, { id: categoryId })) !== undefined
    const listAfter = (after: string) =>
      isKnown
        ? db.rows(repository.listProductsBelowAfter, { category: categoryId, after, limit: CHUNK })
        : db.rows(repository.listProductsAfter, { after, limit: CHUNK })
    let changed = 0
    let chunk = await listAfter(FIRST_ID)
    for (let last = chunk.at(-1); last !== undefined; last = chunk.at(-1)) {
      signal?.throwIfAborted()
      const startedAt = performance.now()
      const mispriced = await db.rows(repository.listMispriced, { ids: idsOf(chunk), currency })
      if (mispriced.length > 0) await db.transaction(tx => repriceFree(tx, mispriced))
      changed += mispriced.length
      if (isSlow && chunk.length === CHUNK)
        await delay((performance.now() - startedAt) * REST_FACTOR, undefined, { signal })
      chunk = await listAfter(last.id)
    }
    if (changed > 0) await db.transaction(tx => tx.run(repository.raiseRevision))
    return changed
  }

  return {
    reprice,
    repriceDue,
    repriceChanged,
    repriceAll,
    repriceWithStragglers,
    refreshListsSoon: listPrices.refreshSoon
  }
}
export type LowestPrices = ReturnType<typeof createLowestPrices>

type Identified = { readonly id: string }
const idsOf = (rows: readonly Identified[]): string[] => rows.map(({ id }) => id)
