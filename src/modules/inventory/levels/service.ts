import { found } from '../../../kernel/errors.ts'
import { HIGHEST_ID, LOWEST_ID } from '../../../kernel/ids.ts'
import { emptyPage, type Page, readPage } from '../../../kernel/pages.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import { readChangedRowsPage } from '../../../platform/postgres/changed-rows.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { inventoryItemNotFoundError, stockLocationNotFoundError, stockRequestFailedError } from '../errors.ts'
import type { StockRequestOperation, StockRequestOutcome } from '../writer/requests.ts'
import * as repository from './repository.ts'
import type {
  CountedStockLevelResponse,
  StockAdjustmentRequest,
  StockCountRequest,
  StockLevelQuery,
  StockLevelResponse
} from './schema.ts'

const WAIT_MS = 4_000

/**
 * Posts stock requests, which the writer applies once after commit, and waits for outcomes. `post` returns
 * the ids of new requests.
 */
export type StockRequestQueue = {
  post(tx: Transaction, posted: readonly StockRequestOperation[]): Promise<ReadonlySet<string>>
  /** @throws `INVENTORY_BUSY` when the request is not finished by the deadline; it stays queued. */
  outcomeOf(id: string, deadlineAt: number): Promise<StockRequestOutcome>
  /** Returns the outcomes of several requests, in the order of the ids. */
  outcomesOf(ids: readonly string[], deadlineAt: number): Promise<readonly StockRequestOutcome[]>
}
type Deps = {
  db: Database
  stockRequests: StockRequestQueue
  /** Starts tracking these variants. */
  track(tx: Transaction, variantIds: readonly string[]): Promise<void>
}
type LocationRef = { id: string; code: string }

/** Lists, counts and adjusts stock levels. */
export function createStockLevelService({ db, stockRequests, track }: Deps) {
  async function list(all: StockLevelQuery): Promise<Page<StockLevelResponse>> {
    const { variant_id, location, updated_since, ...query } = all
    if (updated_since !== undefined) return listChanged({ ...all, updated_since })
    const place =
      location === undefined
        ? null
        : await db.first(repository.findLocationByCodeOrDefault, { code: location })
    if (place === undefined) return emptyPage(query)
    const filters = {
      first: variant_id ?? LOWEST_ID,
      last: variant_id ?? HIGHEST_ID,
      location: place?.id ?? null
    }
    const page = await readPage(query, {
      name: 'levels',
      filters,
      start: { item: LOWEST_ID, place: LOWEST_ID },
      rows: place => db.rows(repository.listStockLevels, { ...filters, ...place }),
      placeOf: row => ({ item: row.variant_id, place: row.location_id }),
      total: () => db.first(repository.countStockLevels, filters)
    })
    return { ...page, items: page.items.map(({ location_id: _, ...level }) => level) }
  }

  async function listChanged(
    query: StockLevelQuery & { updated_since: string }
  ): Promise<Page<StockLevelResponse>> {
    const page = await readChangedRowsPage(db, query, {
      name: 'levels',
      start: { item: LOWEST_ID, place: LOWEST_ID },
      rows: place => db.rows(repository.listChangedStockLevels, place),
      placeOf: row => ({ item: row.variant_id, place: row.location_id, at: row.changed_at }),
      total: since => db.first(repository.countChangedStockLevels, since)
    })
    return { ...page, items: page.items.map(({ location_id: _, changed_at: __, ...level }) => level) }
  }

  const resolveLocation = async (code: string | undefined): Promise<LocationRef> =>
    found(
      await db.first(repository.findLocationByCodeOrDefault, { code: code ?? null }),
      stockLocationNotFoundError
    )

  async function read(variantId: string, { code }: LocationRef): Promise<StockLevelResponse> {
    const { items } = await list({ variant_id: variantId, location: code, limit: 1 })
    return found(items[0], inventoryItemNotFoundError)
  }

  /**
   * Sets the units on hand and starts tracking the variant. A count below the reserved units is accepted.
   * @throws `INVENTORY_LOCATION_NOT_FOUND`, `INVENTORY_BUSY`: repeat the same request to get the outcome
   */
  async function count(
    variantId: string,
    { on_hand, location, safety, reason, source_version }: StockCountRequest,
    actor: string,
    write: IdempotentWrite
  ): Promise<CountedStockLevelResponse> {
    const place = await resolveLocation(location)
    const line = { onHand: on_hand, safety: safety ?? null, sourceVersion: source_version ?? null }
    await write.once(db, async tx => {
      await track(tx, [variantId])
      const lines = [{ ...line, itemId: variantId, locationId: place.id }]
      await stockRequests.post(tx, [{ kind: 'count', id: write.id, lines, actor, reason: reason ?? null }])
    })
    const { stale, short } = await outcomeOf(write.id)
    return {
      ...(await read(variantId, place)),
      applied: !stale.includes(variantId),
      short: short.includes(variantId)
    }
  }

  /** Adds `delta` units to the units on hand. @throws as `count` does */
  async function adjust(
    { variant_id: variantId, delta, location, reason }: StockAdjustmentRequest,
    actor: string,
    write: IdempotentWrite
  ): Promise<StockLevelResponse> {
    const place = await resolveLocation(location)
    await write.once(db, async tx => {
      await track(tx, [variantId])
      const lines = [{ itemId: variantId, locationId: place.id, delta }]
      await stockRequests.post(tx, [{ kind: 'adjust', id: write.id, lines, actor, reason }])
    })
    await outcomeOf(write.id)
    return read(variantId, place)
  }

  /** @throws `INVENTORY_REQUEST_FAILED`, `INVENTORY_BUSY` */
  async function outcomeOf(id: string): Promise<{ stale: readonly string[]; short: readonly string[] }> {
    const outcome = await stockRequests.outcomeOf(id, performance.now() + WAIT_MS)
    if (outcome.kind === 'failed') throw stockRequestFailedError()
    return outcome.kind === 'counted' ? outcome : { stale: [], short: [] }
  }

  return { list, count, adjust }
}
export type StockLevelService = ReturnType<typeof createStockLevelService>
