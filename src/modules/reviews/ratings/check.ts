import { FIRST_ID } from '../../../kernel/ids.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import * as repository from './repository.ts'
import type { Ratings } from './service.ts'

const CHUNK = 100

type Deps = { db: Database; ratings: Pick<Ratings, 'recount'> }

/**
 * Compares the counts of all products with their published reviews, and mends those that differ, such as behind a
 * restore or somebody who wrote to the tables by hand. Answers the products that it mended.
 */
export async function checkRatings({ db, ratings }: Deps, signal: AbortSignal): Promise<string[]> {
  const mended: string[] = []
  let after = FIRST_ID
  while (!signal.aborted) {
    const ids = (await db.rows(repository.listProductsAfter, { after, limit: CHUNK })).map(({ id }) => id)
    const last = ids.at(-1)
    if (last === undefined) break
    const wrong = (await db.rows(repository.listMiscounted, { product_ids: ids })).map(({ id }) => id)
    if (wrong.length > 0) await db.transaction(tx => ratings.recount(tx, wrong))
    mended.push(...wrong)
    after = last
  }
  return mended
}
