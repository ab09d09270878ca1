import { found } from '../../../kernel/errors.ts'
import type { Fault } from '../../../kernel/faults.ts'
import { changesNothing } from '../../../kernel/patch.ts'
import type { Write } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import { productNotFound, productStale, variantLimit, variantNotFound, variantsInvalid } from '../errors.ts'
import { listNames } from '../offers/repository.ts'
import { lockProduct } from '../products/change.ts'
import * as products from '../products/repository.ts'
import type { Changes } from '../revision/changes.ts'
import * as repository from './repository.ts'
import { merge, variantRow } from './row.ts'
import { choiceFaults, priceFaults, quantityFaults } from './rules.ts'
import {
  type CreateVariantRequest,
  type UpdateVariantRequest,
  VARIANTS_MAX,
  type VersionedVariantResponse
} from './schema.ts'

type Deps = {
  db: Database
  changes: Changes
  /** Is told what variants are called. */
  inventory: Pick<InventoryApi, 'describe'> | undefined
  currency: string
}

/** The variants of products, changed one at a time. Each change gives the product its next version. */
export function createVariantService({ db, changes, inventory, currency }: Deps) {
  async function read(id: string): Promise<VersionedVariantResponse> {
    const row = found(await db.first(repository.findVariant, { id }), variantNotFound)
    const { price_minor: price, sale_price_minor: sale_price, ...fields } = row
    return { ...fields, price, sale_price }
  }

  /** @throws `CATALOG_PRODUCT_NOT_FOUND`, `CATALOG_PRODUCT_STALE`, `CATALOG_SKU_TAKEN`, `CATALOG_VARIANT_LIMIT` */
  async function create(
    productId: string,
    body: CreateVariantRequest,
    write: Write
  ): Promise<VersionedVariantResponse> {
    await write.once(db, async tx => {
      const product = await lockProduct(tx, productId, write)
      const { total = 0, last_position = 0 } = (await tx.first(repository.countVariants, { productId })) ?? {}
      if (total >= VARIANTS_MAX) throw variantLimit({ details: { variants_max: VARIANTS_MAX } })
      const row = variantRow(body, { id: write.id, product, position: last_position + 1, currency })
      refuse([
        ...priceFaults({ path: 'body', variant: row }),
        ...quantityFaults({ path: 'body', variant: row })
      ])
      await refuseUnchoosable(tx, row)
      await tx.run(repository.insertVariants, { rows: [row] })
      await inventory?.describe(tx, [{ variantId: row.id, sku: row.sku }])
      await noteChange(tx, product.id)
    })
    return read(write.id)
  }

  /** @throws `CATALOG_VARIANT_NOT_FOUND`, and as `create` */
  async function patch(
    id: string,
    body: UpdateVariantRequest,
    write: Write
  ): Promise<VersionedVariantResponse> {
    await write.once(db, async tx => {
      const product = await lockProductOf(tx, id, write)
      const present = found(await tx.first(repository.findVariant, { id }), variantNotFound)
      if (changesNothing(body)) return
      const row = merge(present, body)
      if (CHOSEN_BY.some(field => field in body)) await refuseUnchoosable(tx, row)
      if ('price' in body || 'sale_price' in body) refuse(priceFaults({ path: 'body', variant: row }))
      refuse(quantityFaults({ path: 'body', variant: row }))
      await tx.run(repository.updateVariants, { rows: [row] })
      if (row.sku !== present.sku) await inventory?.describe(tx, [{ variantId: id, sku: row.sku }])
      await noteChange(tx, product.id)
    })
    return read(id)
  }

  /** @throws `CATALOG_VARIANT_NOT_FOUND`, `CATALOG_PRODUCT_STALE` */
  async function remove(id: string, write: Write): Promise<void> {
    await write.once(db, async tx => {
      const product = await lockProductOf(tx, id, write)
      // Somebody else may have deleted it while its product was waited for.
      if ((await tx.run(repository.deleteVariant, { id })) === 0) throw variantNotFound()
      await noteChange(tx, product.id, [id])
    })
  }

  async function noteChange(tx: Transaction, productId: string, deletedIds: readonly string[] = []) {
    await tx.run(products.touchProduct, { id: productId })
    await changes.announce(tx, [productId], deletedIds)
  }

  /** @throws `CATALOG_VARIANT_NOT_FOUND` unless it exists, for sale or not */
  async function require(id: string): Promise<void> {
    await read(id)
  }

  async function names(ids: readonly string[]): Promise<(string | null)[]> {
    const known = new Map((await db.rows(listNames, { ids })).map(({ id, name }) => [id, name]))
    return ids.map(id => known.get(id) ?? null)
  }

  return { create, patch, remove, require, names }
}
export type VariantService = ReturnType<typeof createVariantService>

const CHOSEN_BY = ['attributes', 'active', 'currency'] as const

/** @throws `CATALOG_VARIANTS_INVALID` */
function refuse(errors: Fault[]): void {
  if (errors.length > 0) throw variantsInvalid({ details: { errors } })
}

/** Among the other variants of its product. @throws `CATALOG_VARIANTS_INVALID` */
async function refuseUnchoosable(tx: Transaction, variant: repository.VariantRow): Promise<void> {
  const product = found(await tx.first(products.findProduct, { id: variant.product_id }), productNotFound)
  const others = (product.variants ?? [])
    .filter(({ id }) => id !== variant.id)
    .map(each => ({ variant: { ...each, price_minor: each.price, sale_price_minor: each.sale_price } }))
  const faults = choiceFaults(product.options, [...others, { path: 'body', variant }])
  refuse(faults.filter(({ path }) => path.startsWith('body')))
}

/** Holds the product of this variant until `tx` ends. */
async function lockProductOf(tx: Transaction, variantId: string, write: Write) {
  const product = found(await tx.first(products.lockProductOfVariant, { variantId }), variantNotFound)
  write.expect(product.version, productStale)
  return product
}
