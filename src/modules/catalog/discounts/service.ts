import { newId } from '../../../kernel/ids.ts'
import { type Page, pageOf } from '../../../kernel/pages.ts'
import type { Database, Transaction } from '../../../platform/postgres.ts'
import { violates } from '../../../platform/postgres-errors.ts'
import type { Write } from '../../../platform/write.ts'
import { fingerprintOf, LAST_ID, readCursor } from '../cursor.ts'
import { discountNotFound, discountPeriod, targetNotFound } from '../errors.ts'
import type { Changes, News } from '../revision/changes.ts'
import { REPRICED_AT_ONCE_MAX } from '../revision/prices.ts'
import * as repository from './repository.ts'
import type { Discount, DiscountBody, DiscountQuery, PatchDiscount } from './schema.ts'

type Deps = { db: Database; changes: Changes; currency: string }

/** Discounts, and how they are changed. What they do to a price is in `pricing.ts`. */
export function createDiscountService({ db, changes, currency }: Deps) {
  async function list(query: DiscountQuery): Promise<Page<Discount> & { total?: number }> {
    const { limit = 20, cursor, count = false } = query
    const fingerprint = fingerprintOf('discounts')
    const after = cursor === undefined ? LAST_ID : readCursor(cursor, fingerprint, 'number').id
    const [rows, total] = await Promise.all([
      repository.list(db, after, limit + 1),
      count ? repository.count(db) : undefined
    ])
    const page = pageOf(rows, limit, row => [fingerprint, 0, row.id], present)
    return total === undefined ? page : { ...page, total }
  }

  async function read(id: string): Promise<Discount> {
    const row = await repository.find(db, id)
    if (row === undefined) throw discountNotFound()
    return present(row)
  }

  /** @throws `CATALOG_TARGET_NOT_FOUND`, `CATALOG_DISCOUNT_PERIOD` */
  async function create(body: DiscountBody, write: Write): Promise<Discount> {
    if (write.alreadyApplied) return readLike(body)
    const id = newId()
    await change(write, async (tx, news) => {
      const row = discountRow(id, body, currency)
      await repository.insert(tx, row)
      await announce(news, row, await listProductIds(tx, id))
    })
    return read(id)
  }

  /** @throws `CATALOG_DISCOUNT_NOT_FOUND`, `CATALOG_DISCOUNT_PERIOD` */
  async function patch(id: string, body: PatchDiscount, write: Write): Promise<Discount> {
    if (write.alreadyApplied) return read(id)
    await change(write, async (tx, news) => {
      const stored = await repository.lock(tx, id)
      if (stored === undefined) throw discountNotFound()
      await repository.update(tx, merge(stored, body, currency))
      await announce(news, stored, await listProductIds(tx, id))
    })
    return read(id)
  }

  /** @throws `CATALOG_DISCOUNT_NOT_FOUND` */
  async function remove(id: string, write: Write): Promise<void> {
    if (write.alreadyApplied) return
    await change(write, async (tx, news) => {
      const stored = await repository.lock(tx, id)
      if (stored === undefined) throw discountNotFound()
      const productIds = await listProductIds(tx, id)
      await repository.remove(tx, id)
      await announce(news, stored, productIds)
    })
  }

  /** What an earlier try of the same request made: the newest discount with this name and target. */
  async function readLike({ name, scope, target_id }: DiscountBody): Promise<Discount> {
    const rows = (await repository.list(db, LAST_ID, 100)).map(present)
    const made = rows.find(row => row.name === name && row.scope === scope && row.target_id === target_id)
    if (made === undefined) throw discountNotFound()
    return made
  }

  const change: Changes['write'] = (write, work) => changes.write(write, work).catch(rethrow)

  return { list, create, patch, remove }
}
export type DiscountService = ReturnType<typeof createDiscountService>

const listProductIds = (tx: Transaction, id: string) =>
  repository.listProductIds(tx, id, REPRICED_AT_ONCE_MAX + 1)

/** A category may get and lose products at this moment; a product or variant is what it is. */
const announce = (news: News, { category_id }: { category_id: string | null }, productIds: string[]) =>
  category_id === null ? news.announce(productIds) : news.announceAll(productIds)

function rethrow(error: unknown): never {
  const targets = ['discounts_product', 'discounts_variant', 'discounts_category']
  if (targets.some(constraint => violates(error, constraint))) throw targetNotFound({ cause: error })
  if (violates(error, 'discounts_period')) throw discountPeriod({ cause: error })
  throw error
}

const momentOf = (text: string | null | undefined) => (typeof text === 'string' ? new Date(text) : null)

function discountRow(id: string, body: DiscountBody, currency: string): repository.NewDiscount {
  const { name, scope, target_id, starts_at, ends_at, active = true } = body
  return {
    id,
    name,
    percentage_ppm: 'percentage_ppm' in body ? body.percentage_ppm : null,
    amount_minor: 'amount' in body ? body.amount : null,
    currency,
    product_id: scope === 'product' ? target_id : null,
    variant_id: scope === 'variant' ? target_id : null,
    category_id: scope === 'category' ? target_id : null,
    starts_at: momentOf(starts_at),
    ends_at: momentOf(ends_at),
    active
  }
}

function merge(
  present: repository.DiscountRow,
  body: PatchDiscount,
  currency: string
): repository.DiscountRow {
  const { starts_at, ends_at, percentage_ppm, amount, ...fields } = body
  const row = { ...present, ...fields }
  if (starts_at !== undefined) row.starts_at = new Date(starts_at)
  if (ends_at !== undefined) row.ends_at = momentOf(ends_at)
  if (percentage_ppm !== undefined) return { ...row, percentage_ppm, amount_minor: null }
  if (amount !== undefined) return { ...row, percentage_ppm: null, amount_minor: amount, currency }
  return row
}

function present(row: repository.DiscountRow): Discount {
  const {
    product_id,
    variant_id,
    category_id,
    amount_minor: amount,
    starts_at,
    ends_at,
    created_at,
    ...fields
  } = row
  return {
    ...fields,
    amount,
    scope: product_id !== null ? 'product' : variant_id !== null ? 'variant' : 'category',
    target_id: product_id ?? variant_id ?? category_id ?? '',
    starts_at: starts_at.toISOString(),
    ends_at: ends_at?.toISOString() ?? null,
    created_at: created_at.toISOString()
  }
}
