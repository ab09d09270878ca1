import { found } from '../../../kernel/errors.ts'
import type { FieldFault } from '../../../kernel/faults.ts'
import { isUpdateWithoutEffect } from '../../../kernel/metadata-request.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { changeMetadata } from '../../../platform/postgres/metadata.ts'
import type { Timers } from '../../../platform/timers.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import {
  productNotFoundError,
  productStaleError,
  variantLimitReachedError,
  variantNotFoundError,
  variantsInvalidError
} from '../errors.ts'
import { listVariantNames } from '../offers/repository.ts'
import * as products from '../products/repository.ts'
import { lockProductForWrite } from '../products/service.ts'
import type { CatalogChangePublisher } from '../revision/changes.ts'
import * as repository from './repository.ts'
import { newVariantRow, variantRowAfterUpdate } from './row.ts'
import { variantOptionFaults, variantPriceFaults, variantQuantityLimitFaults } from './rules.ts'
import {
  type CreateVariantRequest,
  type UpdateVariantRequest,
  VARIANTS_PER_PRODUCT_MAX,
  type VersionedVariantResponse
} from './schema.ts'

type Deps = {
  db: Database
  changes: CatalogChangePublisher
  /** Stores the SKUs of variants. */
  inventory: Pick<InventoryApi, 'upsertItems'> | undefined
  currency: string
}

/** A variant that was found by its SKU. */
export type VariantOfSku = {
  readonly variantId: string
  readonly productId: string
  /** Whether the variant and its product are active. */
  readonly isActive: boolean
}

/** Creates, updates and deletes single variants. Each change increments the version of the product. */
export function createVariantService({ db, changes, inventory, currency }: Deps) {
  async function read(id: string): Promise<VersionedVariantResponse> {
    const row = found(await db.first(repository.findVariant, { id }), variantNotFoundError)
    const { price_minor: price, sale_price_minor: sale_price, ...fields } = row
    return { ...fields, price, sale_price }
  }

  /**
   * @throws `CATALOG_PRODUCT_NOT_FOUND`, `CATALOG_PRODUCT_STALE`, `CATALOG_SKU_TAKEN`,
   * `CATALOG_VARIANT_LIMIT`
   */
  async function create(
    productId: string,
    body: CreateVariantRequest,
    write: IdempotentWrite
  ): Promise<VersionedVariantResponse> {
    await write.once(db, async tx => {
      const product = await lockProductForWrite(tx, productId, write)
      const { total = 0, last_position = 0 } =
        (await tx.first(repository.countVariantsOfProduct, { productId })) ?? {}
      if (total >= VARIANTS_PER_PRODUCT_MAX)
        throw variantLimitReachedError({ details: { variants_max: VARIANTS_PER_PRODUCT_MAX } })
      const row = newVariantRow(body, { id: write.id, product, position: last_position + 1, currency })
      assertNoFaults([
        ...variantPriceFaults({ path: 'body', variant: row }),
        ...variantQuantityLimitFaults({ path: 'body', variant: row })
      ])
      await assertChoosable(tx, row)
      await tx.run(repository.insertVariants, { rows: [row] })
      await changeMetadata(tx, repository.updateVariantMetadata, { ...body, id: row.id })
      await inventory?.upsertItems(tx, [{ variantId: row.id, sku: row.sku }])
      await announceChange(tx, product.id)
    })
    return read(write.id)
  }

  /**
   * A change of metadata that changes nothing raises no version and emits no event. @throws `CATALOG_VARIANT_NOT_FOUND`, and
   * as `create`
   */
  async function patch(
    id: string,
    body: UpdateVariantRequest,
    write: IdempotentWrite
  ): Promise<VersionedVariantResponse> {
    await write.once(db, async tx => {
      const product = await lockProductOf(tx, id, write)
      const present = found(await tx.first(repository.findVariant, { id }), variantNotFoundError)
      if (isUpdateWithoutEffect(present, body)) return
      const row = variantRowAfterUpdate(present, body)
      if (CHOICE_FIELDS.some(field => field in body)) await assertChoosable(tx, row)
      if ('price' in body || 'sale_price' in body)
        assertNoFaults(variantPriceFaults({ path: 'body', variant: row }))
      assertNoFaults(variantQuantityLimitFaults({ path: 'body', variant: row }))
      await tx.run(repository.updateVariants, { rows: [row] })
      await changeMetadata(tx, repository.updateVariantMetadata, { ...body, id })
      if (row.sku !== present.sku) await inventory?.upsertItems(tx, [{ variantId: id, sku: row.sku }])
      await announceChange(tx, product.id)
    })
    return read(id)
  }

  /** @throws `CATALOG_VARIANT_NOT_FOUND`, `CATALOG_PRODUCT_STALE` */
  async function remove(id: string, write: IdempotentWrite): Promise<void> {
    await write.once(db, async tx => {
      const product = await lockProductOf(tx, id, write)
      // Another transaction may have deleted the variant while this one waited for the lock of the product.
      if ((await tx.run(repository.deleteVariant, { id })) === 0) throw variantNotFoundError()
      await announceChange(tx, product.id, [id])
    })
  }

  async function announceChange(tx: Transaction, productId: string, deletedIds: readonly string[] = []) {
    await tx.run(products.incrementProductVersion, { id: productId })
    await changes.announce(tx, [productId], deletedIds)
  }

  /** @throws `CATALOG_VARIANT_NOT_FOUND` unless it exists, for sale or not */
  async function require(id: string): Promise<void> {
    await read(id)
  }

  async function findBySku(skus: readonly string[]): Promise<(VariantOfSku | undefined)[]> {
    const rows = await db.rows(repository.listVariantsBySku, { skus })
    const variantOf = new Map(
      rows.map(row => [row.sku, { variantId: row.id, productId: row.product_id, isActive: row.is_active }])
    )
    return skus.map(sku => variantOf.get(sku))
  }

  async function names(ids: readonly string[]): Promise<(string | null)[]> {
    const known = new Map((await db.rows(listVariantNames, { ids })).map(({ id, name }) => [id, name]))
    return ids.map(id => known.get(id) ?? null)
  }

  return { create, patch, remove, require, findBySku, names }
}
export type VariantService = ReturnType<typeof createVariantService>

const CHOICE_FIELDS = ['attributes', 'active', 'currency'] as const

/** @throws `CATALOG_VARIANTS_INVALID` */
function assertNoFaults(errors: FieldFault[]): void {
  if (errors.length > 0) throw variantsInvalidError({ details: { errors } })
}

/**
 * Checks that a customer can select the variant among those of its product. @throws
 * `CATALOG_VARIANTS_INVALID`
 */
async function assertChoosable(tx: Transaction, variant: repository.VariantRow): Promise<void> {
  const product = found(
    await tx.first(products.findProductDetail, { id: variant.product_id }),
    productNotFoundError
  )
  const others = (product.variants ?? [])
    .filter(({ id }) => id !== variant.id)
    .map(each => ({ variant: { ...each, price_minor: each.price, sale_price_minor: each.sale_price } }))
  const faults = variantOptionFaults(product.options, [...others, { path: 'body', variant }])
  assertNoFaults(faults.filter(({ path }) => path.startsWith('body')))
}

/** Locks the product of this variant until `tx` ends. */
async function lockProductOf(tx: Transaction, variantId: string, write: IdempotentWrite) {
  const product = found(await tx.first(products.lockProductOfVariant, { variantId }), variantNotFoundError)
  write.expect(product.version, productStaleError)
  return product
}

const SWEEP_SECONDS = 3_600
/**
 * Days for which names of deleted variants are kept: longer than nearly all carts exist. The catalog does not
 * know which carts contain a deleted variant.
 */
const KEPT_DAYS = 365

/** Starts a timer that deletes the names of variants that were deleted a year ago. */
export function startOldVariantNameCleanup(timers: Pick<Timers, 'untilEmpty'>, db: Database): void {
  timers.untilEmpty(SWEEP_SECONDS, 'delete old names of deleted variants', () =>
    db.run(repository.deleteNamesOfLongDeletedVariants, { days: KEPT_DAYS })
  )
}
