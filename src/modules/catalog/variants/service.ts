import type { Database, Transaction } from '../../../platform/postgres.ts'
import type { Write } from '../../../platform/write.ts'
import { variantLimit, variantNotFound } from '../errors.ts'
import { lockProduct, rethrow } from '../products/change.ts'
import * as products from '../products/repository.ts'
import type { Changes } from '../revision/changes.ts'
import * as repository from './repository.ts'
import { merge, variantRow } from './row.ts'
import { type AdminVariant, type PatchVariant, VARIANTS_MAX, type VariantBody } from './schema.ts'

type Deps = { db: Database; changes: Changes; currency: string }
/** A variant, and the version of its product: `If-Match` on a variant means that one. */
export type VersionedVariant = { variant: AdminVariant; version: number }

/** The variants of products, changed one at a time. Each change gives the product its next version. */
export function createVariantService({ db, changes, currency }: Deps) {
  async function read(key: { id?: string; sku?: string }): Promise<VersionedVariant> {
    const row = await repository.find(db, key)
    if (row === undefined) throw variantNotFound()
    return { variant: adminVariant(row), version: row.version }
  }

  /** @throws `CATALOG_PRODUCT_NOT_FOUND`, `CATALOG_PRODUCT_STALE`, `CATALOG_SKU_TAKEN`, `CATALOG_VARIANT_LIMIT` */
  async function create(productId: string, body: VariantBody, write: Write): Promise<VersionedVariant> {
    if (write.alreadyApplied) return read({ sku: body.sku })
    await change(productId, write, async (tx, product) => {
      const { total, lastPosition } = await repository.count(tx, productId)
      if (total >= VARIANTS_MAX) throw variantLimit({ details: { variants_max: VARIANTS_MAX } })
      await repository.insert(tx, [variantRow(body, product, lastPosition + 1, currency)])
    })
    return read({ sku: body.sku })
  }

  /** @throws `CATALOG_VARIANT_NOT_FOUND`, and as `create` */
  async function patch(id: string, body: PatchVariant, write: Write): Promise<VersionedVariant> {
    const { variant } = await read({ id })
    if (write.alreadyApplied) return read({ id })
    await change(variant.product_id, write, async tx => {
      const present = await repository.find(tx, { id })
      if (present === undefined) throw variantNotFound()
      await repository.update(tx, [merge(present, body)])
    })
    return read({ id })
  }

  /** @throws `CATALOG_VARIANT_NOT_FOUND`, `CATALOG_PRODUCT_STALE` */
  async function remove(id: string, write: Write): Promise<void> {
    if (write.alreadyApplied) return
    const { variant } = await read({ id })
    await change(variant.product_id, write, tx => repository.remove(tx, id), [id])
  }

  async function change(
    productId: string,
    write: Write,
    work: (tx: Transaction, product: { id: string; name: string }) => Promise<void>,
    gone: readonly string[] = []
  ): Promise<void> {
    await changes
      .write(write, async (tx, news) => {
        const product = await lockProduct(tx, productId, write)
        await work(tx, product)
        await products.touch(tx, [productId])
        await news.announce([productId], gone)
      })
      .catch(rethrow)
  }

  /** @throws `CATALOG_VARIANT_NOT_FOUND` unless it exists, for sale or not */
  async function require(id: string): Promise<void> {
    await read({ id })
  }

  return { create, patch, remove, require }
}
export type VariantService = ReturnType<typeof createVariantService>

function adminVariant(row: repository.VariantDetail): AdminVariant {
  const { version: _, price_minor: price, sale_price_minor: sale_price, ...fields } = row
  return { ...fields, price, sale_price, attributes: row.attributes as Record<string, string> }
}
