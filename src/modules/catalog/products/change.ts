import type { Transaction } from '../../../platform/postgres.ts'
import { violates } from '../../../platform/postgres-errors.ts'
import type { Write } from '../../../platform/write.ts'
import { categoryNotFound, productNotFound, productStale, skuTaken, slugTaken } from '../errors.ts'
import * as repository from './repository.ts'

/** Holds the product until `tx` ends. @throws `CATALOG_PRODUCT_NOT_FOUND`, `CATALOG_PRODUCT_STALE` */
export async function lockProduct(tx: Transaction, id: string, { expectedVersion }: Write) {
  const product = await repository.lock(tx, id)
  if (product === undefined) throw productNotFound()
  if (expectedVersion !== null && expectedVersion !== product.version)
    throw productStale({ details: { version: product.version } })
  return product
}

/** What the database refused, in the words of the catalog. */
export function rethrow(error: unknown): never {
  if (violates(error, 'products_slug')) throw slugTaken({ cause: error })
  if (violates(error, 'variants_sku')) throw skuTaken({ cause: error })
  if (violates(error, 'product_categories_category')) throw categoryNotFound({ cause: error })
  throw error
}
