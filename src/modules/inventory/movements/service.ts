import { HIGHEST_ID, LOWEST_ID } from '../../../kernel/ids.ts'
import { LATEST_MICROSECOND, type Page, readPage } from '../../../kernel/pages.ts'
import type { PageQuery } from '../../../kernel/wire.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import * as repository from './repository.ts'
import type { StockMovementQuery, StockMovementResponse } from './schema.ts'

/** Lists stock movements: those of a variant by location, or those of all variants. */
export function createStockMovementReader({ db }: { db: Database }) {
  async function list({
    variant_id,
    location,
    ...query
  }: StockMovementQuery): Promise<Page<StockMovementResponse>> {
    if (variant_id === undefined) return listRecent({ location, ...query })
    const filters = { variant_id, location: location ?? null }
    const page = await readPage(query, {
      name: 'movements',
      filters,
      start: { seq: Number.MAX_SAFE_INTEGER, place: LOWEST_ID },
      rows: place => db.rows(repository.listStockMovementsOfVariant, { ...filters, ...place }),
      placeOf: row => ({ seq: row.seq, place: row.location_id }),
      total: () => db.first(repository.countStockMovementsOfVariant, filters)
    })
    return { ...page, items: page.items.map(({ location_id: _, ...movement }) => movement) }
  }

  async function listRecent({
    location = null,
    ...query
  }: PageQuery & { location: string | null | undefined }): Promise<Page<StockMovementResponse>> {
    const page = await readPage(query, {
      name: 'recent movements',
      filters: { location },
      start: { at: LATEST_MICROSECOND, item: HIGHEST_ID, seq: Number.MAX_SAFE_INTEGER, place: HIGHEST_ID },
      rows: place => db.rows(repository.listRecentStockMovements, { location, ...place }),
      placeOf: row => ({ at: row.moved_at, item: row.variant_id, seq: row.seq, place: row.location_id }),
      total: () => db.first(repository.countRecentStockMovements, { location })
    })
    return { ...page, items: page.items.map(({ location_id: _, moved_at: __, ...movement }) => movement) }
  }

  return { list }
}
export type StockMovementReader = ReturnType<typeof createStockMovementReader>
