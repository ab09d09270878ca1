import { HIGHEST_ID, LOWEST_ID } from '../../../kernel/ids.ts'
import { type Page, readPage } from '../../../kernel/pages.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import * as repository from './repository.ts'
import type { ReservationQuery, ReservationResponse } from './schema.ts'

/** Lists the stock reservations of orders. */
export function createReservationService({ db }: { db: Database }) {
  async function list({
    owner,
    variant_id,
    state,
    ...query
  }: ReservationQuery): Promise<Page<ReservationResponse>> {
    const filters = {
      firstOwner: owner ?? LOWEST_ID,
      lastOwner: owner ?? HIGHEST_ID,
      variant_id: variant_id ?? null,
      state: state ?? null
    }
    const page = await readPage(query, {
      name: 'reservations',
      filters,
      start: { owner: LOWEST_ID, item: LOWEST_ID, place: LOWEST_ID },
      rows: place => db.rows(repository.listReservations, { ...filters, ...place }),
      placeOf: row => ({ owner: row.owner, item: row.variant_id, place: row.location_id }),
      total: () => db.first(repository.countReservations, filters)
    })
    return { ...page, items: page.items.map(({ location_id: _, ...reservation }) => reservation) }
  }

  return { list }
}
export type ReservationService = ReturnType<typeof createReservationService>
