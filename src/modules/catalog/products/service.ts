import { found } from '../../../kernel/errors.ts'
import type { FieldFault } from '../../../kernel/faults.ts'
import { LOWEST_ID, newId } from '../../../kernel/ids.ts'
import { isUpdateWithoutEffect } from '../../../kernel/metadata-request.ts'
import { emptyPage, newestFirst, type Page, readPage } from '../../../kernel/pages.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import { readChangedRowsPage } from '../../../platform/postgres/changed-rows.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { changeMetadata } from '../../../platform/postgres/metadata.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import { productNotFoundError, productStaleError, variantsInvalidError } from '../errors.ts'
import type { CatalogChangePublisher } from '../revision/changes.ts'
import { insertVariants, updateVariantMetadata, type VariantRow } from '../variants/repository.ts'
import { newVariantRow } from '../variants/row.ts'
import {
  duplicateProductOptionFaults,
  variantOptionFaults,
  variantPriceFaults,
  variantQuantityLimitFaults
} from '../variants/rules.ts'
import { PRODUCT_STATUSES } from './fields.ts'
import * as repository from './repository.ts'
import type {
  AdminProductListQuery,
  AdminProductResponse,
  AdminProductSummaryResponse,
  CreateProductRequest,
  UpdateProductRequest
} from './schema.ts'
import { productSearchLikePatterns } from './search.ts'
import {
  givenOrDerivedSlug,
  normalizeSlug,
  numberedProductSlugCandidates,
  productSearchText,
  slugWithSuffix
} from './slug.ts'

const FAULTS_SHOWN_MAX = 8

type Deps = {
  db: Database
  changes: CatalogChangePublisher
  /** Stores the SKUs of variants. */
  inventory: Pick<InventoryApi, 'upsertItems'> | undefined
  currency: string
}

/** Lists, creates, updates and deletes products of any status, for administrators. */
export function createProductService({ db, changes, inventory, currency }: Deps) {
  async function read(id: string): Promise<AdminProductResponse> {
    return adminProduct(found(await db.first(repository.findProductDetail, { id }), productNotFoundError))
  }

  async function list(all: AdminProductListQuery): Promise<Page<AdminProductSummaryResponse>> {
    const { q, status, metadata = null, updated_since, ...query } = all
    if (updated_since !== undefined) return listChanged({ ...all, updated_since })
    const patterns = q === undefined ? null : productSearchLikePatterns(q)
    if (patterns?.length === 0) return emptyPage(query)
    const statuses = status === undefined ? PRODUCT_STATUSES : [status]
    return readPage(query, {
      ...newestFirst,
      name: 'products',
      filters: { statuses, patterns, metadata },
      rows: page => {
        if (patterns !== null)
          return db.rows(repository.searchProducts, { statuses, q: patterns, metadata, ...page })
        return metadata === null
          ? db.rows(repository.listProducts, { statuses, ...page })
          : db.rows(repository.listProductsMatchingMetadata, { statuses, metadata, ...page })
      },
      total: () => db.first(repository.countProducts, { statuses, q: patterns, metadata })
    })
  }

  async function listChanged(
    query: AdminProductListQuery & { updated_since: string }
  ): Promise<Page<AdminProductSummaryResponse>> {
    const page = await readChangedRowsPage(db, query, {
      name: 'products',
      start: { after: LOWEST_ID },
      rows: place => db.rows(repository.listChangedProducts, place),
      placeOf: ({ changed_at: at, id: after }) => ({ after, at }),
      total: since => db.first(repository.countChangedProducts, since)
    })
    return { ...page, items: page.items.map(({ changed_at: _, ...product }) => product) }
  }

  /**
   * @throws `CATALOG_SLUG_TAKEN`, `CATALOG_SKU_TAKEN`, `CATALOG_CATEGORY_NOT_FOUND`, `CATALOG_SLUG_NEEDED`
   */
  async function create(body: CreateProductRequest, write: IdempotentWrite): Promise<AdminProductResponse> {
    const { variants: variantBodies = [], category_ids = [], metadata, private_metadata, ...fields } = body
    const { status = variantBodies.length === 0 ? 'draft' : 'active' } = fields
    const row = merge(emptyProduct(write.id), {
      ...fields,
      slug: givenOrDerivedSlug(fields.name, fields.slug),
      status
    })
    const rows = variantBodies.map((each, index) =>
      newVariantRow(each, { id: newId(), product: row, position: index + 1, currency })
    )
    assertNoFaults(faultsOfNew(row, rows))
    await write.once(db, async tx => {
      const slug = fields.slug === undefined ? await freeSlug(tx, row) : row.slug
      await tx.run(repository.insertProducts, { rows: [{ ...row, slug }] })
      await tx.run(insertVariants, { rows })
      write.resultsIn(
        'variants',
        rows.map(({ id }) => id)
      )
      await changeMetadata(tx, repository.updateProductMetadata, { id: row.id, metadata, private_metadata })
      await changeMetadata(
        tx,
        updateVariantMetadata,
        ...rows.map(({ id }, at) => ({ ...variantBodies[at], id }))
      )
      if (rows.length > 0) await inventory?.upsertItems(tx, rows.map(describedBy))
      await tx.run(repository.insertProductCategoryLinks, { id: row.id, categoryIds: category_ids })
      await changes.announce(tx, [row.id])
    })
    return read(write.id)
  }

  /**
   * A change of metadata that changes nothing raises no version and emits no event, so that a subscriber of
   * `catalog.product_changed` can write metadata. @throws `CATALOG_PRODUCT_NOT_FOUND`, `CATALOG_PRODUCT_STALE`, and as `create`
   */
  async function patch(
    id: string,
    body: UpdateProductRequest,
    write: IdempotentWrite
  ): Promise<AdminProductResponse> {
    const { category_ids, metadata, private_metadata, ...fields } = body
    await write.once(db, async tx => {
      await lockProductForWrite(tx, id, write)
      const present = found(await tx.first(repository.findProductDetail, { id }), productNotFoundError)
      if (isUpdateWithoutEffect(present, body)) return
      assertNoFaults(faultsOfChange(present, body))
      await tx.run(repository.updateProducts, { rows: [merge(rowOf(present), fields)] })
      await changeMetadata(tx, repository.updateProductMetadata, { id, metadata, private_metadata })
      if (category_ids !== undefined) {
        await tx.run(repository.deleteOtherProductCategoryLinks, { id, categoryIds: category_ids })
        await tx.run(repository.insertProductCategoryLinks, { id, categoryIds: category_ids })
      }
      await changes.announce(tx, [id])
    })
    return read(id)
  }

  /** Deletes a product with its variants. Carts show the variants as unavailable. */
  async function remove(id: string, write: IdempotentWrite): Promise<void> {
    await write.once(db, async tx => {
      await lockProductForWrite(tx, id, write)
      const present = await tx.first(repository.findProductDetail, { id })
      await tx.run(repository.deleteProduct, { id })
      const deleted = present?.variants ?? []
      await changes.announce(
        tx,
        [id],
        deleted.map(variant => variant.id)
      )
    })
  }

  return {
    read,
    list,
    create,
    patch,
    remove,
    isEmpty: async () => (await db.first(repository.findIdOfAnyProduct)) === undefined,
    findOtherCurrency: async () =>
      (await db.first(repository.findOtherVariantCurrency, { currency }))?.currency,
    listVariantIdsForSale: async (limit: number) =>
      (await db.rows(repository.listFirstVariantIdsForSale, { currency, limit })).map(({ id }) => id)
  }
}
export type ProductService = ReturnType<typeof createProductService>

/** Locks the product until `tx` ends. @throws `CATALOG_PRODUCT_NOT_FOUND`, `CATALOG_PRODUCT_STALE` */
export async function lockProductForWrite(tx: Transaction, id: string, write: IdempotentWrite) {
  const product = found(await tx.first(repository.lockProductRow, { id }), productNotFoundError)
  write.expect(product.version, productStaleError)
  return product
}

/** @throws `CATALOG_VARIANTS_INVALID` */
function assertNoFaults(errors: FieldFault[]): void {
  if (errors.length > 0)
    throw variantsInvalidError({ details: { errors: errors.slice(0, FAULTS_SHOWN_MAX) } })
}

function faultsOfNew(product: repository.ProductRow, variants: readonly VariantRow[]): FieldFault[] {
  const placed = variants.map((variant, index) => ({ path: `body/variants/${index}`, variant }))
  const isEmpty = product.status === 'active' && variants.length === 0
  return [
    ...(isEmpty ? [{ path: 'body/variants', message: 'must not be empty while the product is active' }] : []),
    ...duplicateProductOptionFaults(product.options),
    ...placed.flatMap(variantPriceFaults),
    ...placed.flatMap(variantQuantityLimitFaults),
    ...variantOptionFaults(product.options, placed)
  ]
}

/** Checks only the fields that change, so that existing faults do not block another change. */
function faultsOfChange(
  present: repository.ProductDetailRow,
  { status, options }: UpdateProductRequest
): FieldFault[] {
  const variants = present.variants ?? []
  const isEmpty = status === 'active' && present.status !== 'active' && variants.length === 0
  const placed = variants.map(variant => ({
    path: variant.sku,
    variant: { ...variant, price_minor: variant.price, sale_price_minor: variant.sale_price }
  }))
  const unchosen = options === undefined ? [] : variantOptionFaults(options, placed)
  return [
    ...(isEmpty ? [{ path: 'body/status', message: 'must not be active while there are no variants' }] : []),
    ...duplicateProductOptionFaults(options ?? []),
    ...unchosen.map(({ path, message }) => ({
      path: 'body/options',
      message: `must fit the variants: ${path} ${message}`
    }))
  ]
}

/** Returns the slug of the product, with a numbered suffix when other products have it. */
async function freeSlug(tx: Transaction, { id, slug }: repository.ProductRow): Promise<string> {
  await tx.run(repository.lockProductSlug, { slug })
  const slugs = numberedProductSlugCandidates(slug)
  const taken = new Set((await tx.rows(repository.listTakenProductSlugs, { slugs })).map(row => row.slug))
  return slugs.find(each => !taken.has(each)) ?? slugWithSuffix(slug, id.slice(-12))
}

const describedBy = ({ id, sku }: VariantRow) => ({ variantId: id, sku })

const emptyProduct = (id: string): repository.ProductRow => ({
  id,
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

function merge(
  present: Omit<repository.ProductRow, 'search_text'>,
  { images, ...fields }: UpdateProductRequest
) {
  const merged = { ...present, ...fields }
  return {
    ...merged,
    slug: normalizeSlug(merged.slug),
    images: images?.map(({ url, alt = null }) => ({ url, alt })) ?? present.images,
    search_text: productSearchText(merged.name, merged.brand)
  }
}

function rowOf(product: repository.ProductDetailRow): Omit<repository.ProductRow, 'search_text'> {
  const { id, slug, name, description, brand, status, tags, options, images } = product
  return { id, slug, name, description, brand, status, tags, options, images }
}

function adminProduct(row: repository.ProductDetailRow): AdminProductResponse {
  return {
    ...row,
    images: row.images.map((image, index) => ({ ...image, position: index + 1 })),
    categories: row.categories ?? [],
    variants: row.variants ?? []
  }
}
