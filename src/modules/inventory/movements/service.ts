import { LOWEST_ID } from '../../../kernel/ids.ts'
import { type Page, readPage } from '../../../kernel/pages.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import * as repository from './repository.ts'
import type { StockMovementQuery, StockMovementResponse } from './schema.ts'

/** Lists the stock movements of a variant. */
export function createStockMovementService({ db }: { db: Database }) {
  async function list({
    variant_id,
    location,
    ...query
  }: StockMovementQuery): Promise<Page<StockMovementResponse>> {
    const filters = { variant_id, location: location ?? null }
    const page = await readPage(query, {
      name: 'movements',
      filters,
      start: { seq: Number.MAX_SAFE_INTEGER, place: LOWEST_ID },
      rows: place => db.rows(repository.listStockMovements, { ...filters, ...place }),
      placeOf: row => ({ seq: row.seq, place: row.location_id }),
      total: () => db.first(repository.countStockMovements, filters)
    })
    return { ...page, items: page.items.map(({ location_id: _, ...movement }) => movement) }
  }

  return { list }
}
export type StockMovementService = ReturnType<typeof createStockMovementService>
