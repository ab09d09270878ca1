import { LOWEST_ID } from '../../../kernel/ids.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import * as repository from './repository.ts'
import type { ProductRatingService } from './service.ts'

const CHUNK_PRODUCTS = 100

type Deps = { db: Database; ratings: Pick<ProductRatingService, 'recount'> }

/**
 * Compares the ratings of all products with their published reviews, and repairs those that differ.
 * They may differ after a restore or manual changes of the tables. Returns the ids of the repaired
 * products.
 */
export async function repairProductRatings({ db, ratings }: Deps, signal: AbortSignal): Promise<string[]> {
  const repaired: string[] = []
  let after = LOWEST_ID
  while (!signal.aborted) {
    const ids = (
      await db.rows(repository.listReviewedOrRatedProductIds, { after, limit: CHUNK_PRODUCTS })
    ).map(({ id }) => id)
    const last = ids.at(-1)
    if (last === undefined) break
    const wrong = (await db.rows(repository.listMiscountedProductRatings, { product_ids: ids })).map(
      ({ id }) => id
    )
    if (wrong.length > 0) await db.transaction(tx => ratings.recount(tx, wrong))
    repaired.push(...wrong)
    after = last
  }
  return repaired
}
