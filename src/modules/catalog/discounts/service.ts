import { found } from '../../../kernel/errors.ts'
import { newestFirst, type Page, readPage } from '../../../kernel/pages.ts'
import { isEmptyPatch } from '../../../kernel/patch.ts'
import type { PageQuery } from '../../../kernel/wire.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { discountNotFoundError, discountStaleError } from '../errors.ts'
import type { CatalogChangePublisher } from '../revision/changes.ts'
import { listProductIdsToReprice } from '../revision/lowest-prices.ts'
import * as repository from './repository.ts'
import type { CreateDiscountRequest, DiscountResponse, UpdateDiscountRequest } from './schema.ts'

type Deps = { db: Database; changes: CatalogChangePublisher; currency: string }

/** Lists, creates, updates and deletes discounts. `pricing.ts` applies them to prices. */
export function createCatalogDiscountService({ db, changes, currency }: Deps) {
  async function list(query: PageQuery): Promise<Page<DiscountResponse>> {
    const page = await readPage(query, {
      ...newestFirst,
      name: 'discounts',
      rows: page => db.rows(repository.listDiscounts, page),
      total: () => db.first(repository.countDiscounts)
    })
    return { ...page, items: page.items.map(present) }
  }

  async function read(id: string): Promise<DiscountResponse> {
    return present(found(await db.first(repository.findDiscount, { id }), discountNotFoundError))
  }

  /** @throws `CATALOG_TARGET_NOT_FOUND`, `CATALOG_DISCOUNT_PERIOD` */
  async function create(body: CreateDiscountRequest, write: IdempotentWrite): Promise<DiscountResponse> {
    await write.once(db, async tx => {
      const row = discountRow(write.id, body, currency)
      await tx.run(repository.insertDiscount, row)
      await announce(tx, row, await listProductIdsToReprice(tx, repository.listProductIdsOfDiscount, row.id))
    })
    return read(write.id)
  }

  /** @throws `CATALOG_DISCOUNT_NOT_FOUND`, `CATALOG_DISCOUNT_STALE`, `CATALOG_DISCOUNT_PERIOD` */
  async function patch(
    id: string,
    body: UpdateDiscountRequest,
    write: IdempotentWrite
  ): Promise<DiscountResponse> {
    await write.once(db, async tx => {
      const stored = await lock(tx, id, write)
      if (isEmptyPatch(body)) return
      await tx.run(repository.updateDiscount, merge(stored, body, currency))
      await announce(tx, stored, await listProductIdsToReprice(tx, repository.listProductIdsOfDiscount, id))
    })
    return read(id)
  }

  /** @throws `CATALOG_DISCOUNT_NOT_FOUND`, `CATALOG_DISCOUNT_STALE` */
  async function remove(id: string, write: IdempotentWrite): Promise<void> {
    await write.once(db, async tx => {
      const stored = await lock(tx, id, write)
      const productIds = await listProductIdsToReprice(tx, repository.listProductIdsOfDiscount, id)
      await tx.run(repository.deleteDiscount, { id })
      await announce(tx, stored, productIds)
    })
  }

  /**
   * A discount on a category invalidates all offers, because concurrent transactions can add products to the
   * category.
   */
  const announce = (
    tx: Transaction,
    { category_id }: { category_id: string | null },
    productIds: readonly string[]
  ) =>
    category_id === null
      ? changes.announce(tx, productIds)
      : changes.announceCategory(tx, category_id, productIds)

  return { list, create, patch, remove }
}
export type CatalogDiscountService = ReturnType<typeof createCatalogDiscountService>

/** Locks the discount until `tx` ends. */
async function lock(tx: Transaction, id: string, write: IdempotentWrite) {
  const stored = found(await tx.first(repository.lockDiscount, { id }), discountNotFoundError)
  write.expect(stored.version, discountStaleError)
  return stored
}

const momentOf = (text: string | null | undefined) => (typeof text === 'string' ? new Date(text) : null)

function discountRow(id: string, body: CreateDiscountRequest, currency: string): repository.NewDiscountRow {
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
  body: UpdateDiscountRequest,
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

function present(row: repository.DiscountRow): DiscountResponse {
  const { product_id, variant_id, category_id, amount_minor: amount, ...fields } = row
  return {
    ...fields,
    amount,
    scope: product_id !== null ? 'product' : variant_id !== null ? 'variant' : 'category',
    target_id: product_id ?? variant_id ?? category_id ?? ''
  }
}
