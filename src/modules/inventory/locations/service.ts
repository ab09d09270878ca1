import { found } from '../../../kernel/errors.ts'
import { LOWEST_ID } from '../../../kernel/ids.ts'
import { type Page, readPage } from '../../../kernel/pages.ts'
import { isEmptyPatch } from '../../../kernel/patch.ts'
import type { PageQuery } from '../../../kernel/wire.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Enqueue } from '../../../platform/outbox/outbox.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { AvailabilityChangeBroadcaster } from '../availability/changes.ts'
import {
  lastActiveLocationNeededError,
  stockLocationLimitReachedError,
  stockLocationNotFoundError,
  stockLocationStaleError
} from '../errors.ts'
import * as repository from './repository.ts'
import type { CreateLocationRequest, LocationResponse, UpdateLocationRequest } from './schema.ts'
import { announceStockLocationChangeJob } from './status-changes.ts'

/** A sale locks the levels of the item at every location, so their number is limited. */
const LOCATIONS_MAX = 100

type Deps = { db: Database; changes: AvailabilityChangeBroadcaster; enqueue: Enqueue }

/** Manages locations. A location is never deleted, because movements reference it; it is deactivated. */
export function createStockLocationService({ db, changes, enqueue }: Deps) {
  const list = (query: PageQuery): Promise<Page<LocationResponse>> =>
    readPage(query, {
      name: 'locations',
      start: { priority: 0, id: LOWEST_ID },
      placeOf: ({ priority, id }) => ({ priority, id }),
      rows: place => db.rows(repository.listStockLocations, place),
      total: () => db.first(repository.countStockLocations)
    })

  /** @throws `INVENTORY_LOCATION_NOT_FOUND` */
  const read = async (id: string): Promise<LocationResponse> =>
    found(await db.first(repository.findStockLocation, { id }), stockLocationNotFoundError)

  /** @throws `INVENTORY_LOCATION_CODE_TAKEN`, `INVENTORY_LOCATION_LIMIT` */
  async function create(body: CreateLocationRequest, write: IdempotentWrite): Promise<LocationResponse> {
    const { code, name, address = null, priority = null, active = true } = body
    await write.once(db, async tx => {
      const stored = await tx.rows(repository.lockAllStockLocations)
      if (stored.length >= LOCATIONS_MAX)
        throw stockLocationLimitReachedError({ details: { limit: LOCATIONS_MAX } })
      await tx.run(repository.insertStockLocation, { id: write.id, code, name, address, priority, active })
    })
    return read(write.id)
  }

  /** @throws `INVENTORY_LOCATION_NOT_FOUND`, `INVENTORY_LOCATION_STALE`, `INVENTORY_LOCATION_NEEDED` */
  async function patch(
    id: string,
    body: UpdateLocationRequest,
    write: IdempotentWrite
  ): Promise<LocationResponse> {
    await write.once(db, async tx => {
      const all = await tx.rows(repository.lockAllStockLocations)
      const stored = found(
        all.find(each => each.id === id),
        stockLocationNotFoundError
      )
      write.expect(stored.version, stockLocationStaleError)
      if (isEmptyPatch(body)) return
      const changed = { ...stored, ...body }
      if (!changed.active && !all.some(each => each.active && each.id !== id))
        throw lastActiveLocationNeededError()
      await tx.run(repository.updateStockLocation, changed)
      if (changed.active === stored.active) return
      changes.announce(tx, 'all')
      enqueue(tx, announceStockLocationChangeJob, { location_id: id }, { subject: id })
    })
    return read(id)
  }

  return { list, read, create, patch }
}
export type StockLocationService = ReturnType<typeof createStockLocationService>
