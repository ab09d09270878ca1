import { found } from '../../../kernel/errors.ts'
import type { Write } from '../../../platform/idempotency/write.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import { productNotFound, productStale } from '../errors.ts'
import * as repository from './repository.ts'

/** Holds the product until `tx` ends. @throws `CATALOG_PRODUCT_NOT_FOUND`, `CATALOG_PRODUCT_STALE` */
export async function lockProduct(tx: Transaction, id: string, write: Write) {
  const product = found(await tx.first(repository.lockProduct, { id }), productNotFound)
  write.expect(product.version, productStale)
  return product
}
