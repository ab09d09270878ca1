import { DomainError } from '../../../kernel/errors.ts'
import { CsvRejectedError } from '../../../platform/csv/records.ts'
import { databaseUnavailableError } from '../../../platform/postgres/errors.ts'
import { skuTakenError, slugTakenError } from '../errors.ts'
import type { ProductImportBatchOutcome } from './batch.ts'
import type { ImportedProduct } from './imported-product.ts'
import { zeroProductImportCounts } from './report.ts'

/** Whether the error concerns the batch: the database rejected the data or was too busy, but is available. */
export const isProductBatchRejection = (error: unknown): boolean =>
  error instanceof DomainError
    ? error.code !== databaseUnavailableError.code
    : error instanceof Error && 'severity' in error

/** The outcome of a batch of one product that the database rejected. */
export const outcomeOfRejectedProduct = (
  draft: ImportedProduct,
  error: unknown
): ProductImportBatchOutcome => ({
  counts: zeroProductImportCounts(),
  changedIds: [],
  failures: [
    [
      {
        row: draft.row,
        handle: draft.slug,
        message: `The database rejected the product: ${reasonOf(error)}.`
      }
    ]
  ]
})

/** The error of an import whose batch the database rejected as a whole. */
export function productBatchRejectedError(
  drafts: readonly ImportedProduct[],
  error: unknown
): CsvRejectedError {
  const [first, last] = [drafts.at(0)?.row ?? 1, drafts.at(-1)?.row]
  const message = `The database rejected the products from here to row ${last}: ${reasonOf(error)}.`
  return new CsvRejectedError(first, message, error)
}

function reasonOf(error: unknown): string {
  const isTaken =
    error instanceof DomainError && (error.code === slugTakenError.code || error.code === skuTakenError.code)
  if (isTaken) return 'another request took its handle or SKU at the same time; import the file again'
  return error instanceof Error ? error.message : String(error)
}
