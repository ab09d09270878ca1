import { FIRST_ID, LAST_ID } from '../../../kernel/ids.ts'
import { type Page, readPage } from '../../../kernel/pages.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import * as repository from './repository.ts'
import type { LevelQuery, LevelResponse } from './schema.ts'

/** What there is of each variant at each location. */
export function createLevelService({ db }: { db: Database }) {
  async function list({ variant_id, location, ...query }: LevelQuery): Promise<Page<LevelResponse>> {
    const filters = {
      first: variant_id ?? FIRST_ID,
      last: variant_id ?? LAST_ID,
      location: location ?? null
    }
    const page = await readPage(query, {
      name: 'levels',
      filters,
      start: { item: FIRST_ID, place: FIRST_ID },
      rows: place => db.rows(repository.listLevels, { ...filters, ...place }),
      placeOf: row => ({ item: row.variant_id, place: row.location_id }),
      total: () => db.first(repository.countLevels, filters)
    })
    return { ...page, items: page.items.map(({ location_id: _, ...level }) => level) }
  }

  return { list }
}
export type LevelService = ReturnType<typeof createLevelService>
