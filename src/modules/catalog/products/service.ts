import { newId } from '../../../kernel/ids.ts'
import { type Page, pageOf } from '../../../kernel/pages.ts'
import type { Database } from '../../../platform/postgres.ts'
import type { Write } from '../../../platform/write.ts'
import { fingerprintOf, LAST_ID, readCursor } from '../cursor.ts'
import { productNotFound, slugNeeded } from '../errors.ts'
import type { Changes } from '../revision/changes.ts'
import { STATUSES } from '../schema.ts'
import * as variants from '../variants/repository.ts'
import { variantRow } from '../variants/row.ts'
import { lockProduct, rethrow } from './change.ts'
import * as repository from './repository.ts'
import type {
  AdminProduct,
  AdminProductQuery,
  AdminProductSummary,
  CreateProduct,
  PatchProduct
} from './schema.ts'
import { containing, searchText, slugOf } from './slug.ts'

type Deps = { db: Database; changes: Changes; currency: string }

/** Products as the administrator sees them: all of them, with everything, and how they are changed. */
export function createProductService({ db, changes, currency }: Deps) {
  async function read(key: { id?: string; slug?: string }): Promise<AdminProduct> {
    const row = await repository.find(db, key)
    if (row === undefined) throw productNotFound()
    return adminProduct(row)
  }

  async function list(query: AdminProductQuery): Promise<Page<AdminProductSummary> & { total?: number }> {
    const { q, status, limit = 20, cursor, count = false } = query
    const filter = { statuses: status === undefined ? STATUSES : [status], pattern: containing(q) }
    const fingerprint = fingerprintOf(filter)
    const after = cursor === undefined ? LAST_ID : readCursor(cursor, fingerprint, 'number').id
    const [rows, total] = await Promise.all([
      repository.list(db, filter, after, limit + 1),
      count ? repository.count(db, filter) : undefined
    ])
    const page = pageOf(rows, limit, row => [fingerprint, 0, row.id], summary)
    return total === undefined ? page : { ...page, total }
  }

  /** @throws `CATALOG_SLUG_TAKEN`, `CATALOG_SKU_TAKEN`, `CATALOG_CATEGORY_NOT_FOUND`, `CATALOG_SLUG_NEEDED` */
  async function create(body: CreateProduct, write: Write): Promise<AdminProduct> {
    const { variants: variantBodies = [], category_ids = [], ...fields } = body
    const row = merge(emptyProduct(), { ...fields, slug: fields.slug ?? slugOf(fields.name) })
    if (row.slug === '') throw slugNeeded()
    if (write.alreadyApplied) return read({ slug: row.slug })
    await change(write, async (tx, news) => {
      await repository.insert(tx, [row])
      await variants.insert(
        tx,
        variantBodies.map((each, index) => variantRow(each, row, index + 1, currency))
      )
      await repository.replaceCategories(tx, row.id, category_ids)
      await news.announce([row.id])
    })
    return read({ id: row.id })
  }

  /** @throws `CATALOG_PRODUCT_NOT_FOUND`, `CATALOG_PRODUCT_STALE`, and as `create` */
  async function patch(id: string, body: PatchProduct, write: Write): Promise<AdminProduct> {
    if (write.alreadyApplied) return read({ id })
    const { category_ids, ...fields } = body
    await change(write, async (tx, news) => {
      await lockProduct(tx, id, write)
      const present = await repository.find(tx, { id })
      if (present === undefined) throw productNotFound()
      await repository.update(tx, [merge(productRow(present), fields)])
      if (category_ids !== undefined) await repository.replaceCategories(tx, id, category_ids)
      await news.announce([id])
    })
    return read({ id })
  }

  /** Deletes it with its variants: carts show them as unavailable. */
  async function remove(id: string, write: Write): Promise<void> {
    if (write.alreadyApplied) return
    await change(write, async (tx, news) => {
      await lockProduct(tx, id, write)
      const present = await repository.find(tx, { id })
      const gone = (present?.variants ?? []) as { id: string }[]
      await repository.remove(tx, id)
      await news.announce(
        [],
        gone.map(variant => variant.id)
      )
    })
  }

  const change: Changes['write'] = (write, work) => changes.write(write, work).catch(rethrow)

  return {
    read: (id: string) => read({ id }),
    list,
    create,
    patch,
    remove,
    isEmpty: () => repository.isEmpty(db),
    listVariantIdsForSale: (limit: number) => repository.listVariantIdsForSale(db, currency, limit)
  }
}
export type ProductService = ReturnType<typeof createProductService>

const emptyProduct = (): repository.ProductRow => ({
  id: newId(),
  slug: '',
  name: '',
  description: '',
  brand: null,
  status: 'active',
  tags: [],
  options: [],
  images: [],
  search_text: ''
})

function merge(present: repository.ProductRow, { images, ...fields }: PatchProduct): repository.ProductRow {
  const merged = { ...present, ...fields }
  return {
    ...merged,
    images: images?.map(({ url, alt = null }) => ({ url, alt })) ?? present.images,
    search_text: searchText(merged.name, merged.brand)
  }
}

const productRow = (row: repository.ProductDetail): repository.ProductRow => ({
  id: row.id,
  slug: row.slug,
  name: row.name,
  description: row.description,
  brand: row.brand,
  status: row.status as repository.ProductRow['status'],
  tags: row.tags,
  options: row.options as repository.Option[],
  images: row.images as repository.StoredImage[],
  search_text: ''
})

function adminProduct(row: repository.ProductDetail): AdminProduct {
  const { search_text: _, ...fields } = productRow(row)
  return presentTimes({
    ...fields,
    images: fields.images.map((image, index) => ({ ...image, position: index + 1 })),
    categories: (row.categories ?? []) as AdminProduct['categories'],
    variants: (row.variants ?? []) as AdminProduct['variants'],
    version: row.version,
    created_at: row.created_at,
    updated_at: row.updated_at
  })
}

const summary = (row: repository.ProductSummary): AdminProductSummary =>
  presentTimes({ ...row, status: row.status as AdminProductSummary['status'] })

const presentTimes = <T extends { created_at: Date; updated_at: Date }>(row: T) => ({
  ...row,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString()
})
