import { found } from '../../../kernel/errors.ts'
import { FIRST_ID, LAST_ID } from '../../../kernel/ids.ts'
import { noPage, type Page, readPage } from '../../../kernel/pages.ts'
import type { Write } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { itemNotFound, locationNotFound, requestFailed } from '../errors.ts'
import type { Posted, RequestOutcome } from '../requests/requests.ts'
import * as repository from './repository.ts'
import type {
  AdjustRequest,
  CountedLevelResponse,
  CountRequest,
  LevelQuery,
  LevelResponse
} from './schema.ts'

const WAIT_MS = 4_000

/** The books: what is posted in a transaction is done once it is committed, once by its id. `post` answers the new ids. */
export type Books = {
  post(tx: Transaction, posted: readonly Posted[]): Promise<ReadonlySet<string>>
  /** @throws `INVENTORY_BUSY` when it is not done by then; it will be. */
  outcomeOf(id: string, deadlineAt: number): Promise<RequestOutcome>
  /** The same of several, in their order. */
  outcomesOf(ids: readonly string[], deadlineAt: number): Promise<readonly RequestOutcome[]>
}
type Deps = {
  db: Database
  books: Books
  /** From here on they are counted. */
  track(tx: Transaction, variantIds: readonly string[]): Promise<void>
}
type Place = { id: string; code: string }

/** What there is of each variant at each location, and how it is corrected. */
export function createLevelService({ db, books, track }: Deps) {
  async function list({ variant_id, location, ...query }: LevelQuery): Promise<Page<LevelResponse>> {
    const place = location === undefined ? null : await db.first(repository.findPlace, { code: location })
    if (place === undefined) return noPage(query)
    const filters = {
      first: variant_id ?? FIRST_ID,
      last: variant_id ?? LAST_ID,
      location: place?.id ?? null
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

  const placeOf = async (code: string | undefined): Promise<Place> =>
    found(await db.first(repository.findPlace, { code: code ?? null }), locationNotFound)

  async function read(variantId: string, { code }: Place): Promise<LevelResponse> {
    const { items } = await list({ variant_id: variantId, location: code, limit: 1 })
    return found(items[0], itemNotFound)
  }

  /**
   * Says how many there are; the variant is counted from here on. Fewer than are promised is a fact, too.
   * @throws `INVENTORY_LOCATION_NOT_FOUND`, `INVENTORY_BUSY`: the same request again tells what became of it
   */
  async function count(
    variantId: string,
    { on_hand, location, safety, reason, source_version }: CountRequest,
    actor: string,
    write: Write
  ): Promise<CountedLevelResponse> {
    const place = await placeOf(location)
    const line = { onHand: on_hand, safety: safety ?? null, sourceVersion: source_version ?? null }
    await write.once(db, async tx => {
      await track(tx, [variantId])
      const lines = [{ ...line, itemId: variantId, locationId: place.id }]
      await books.post(tx, [{ kind: 'count', id: write.id, lines, actor, reason: reason ?? null }])
    })
    const { stale, short } = await outcomeOf(write.id)
    return {
      ...(await read(variantId, place)),
      applied: !stale.includes(variantId),
      short: short.includes(variantId)
    }
  }

  /** Says how many have come or gone. @throws as `count` does */
  async function adjust(
    { variant_id: variantId, delta, location, reason }: AdjustRequest,
    actor: string,
    write: Write
  ): Promise<LevelResponse> {
    const place = await placeOf(location)
    await write.once(db, async tx => {
      await track(tx, [variantId])
      const lines = [{ itemId: variantId, locationId: place.id, delta }]
      await books.post(tx, [{ kind: 'adjust', id: write.id, lines, actor, reason }])
    })
    await outcomeOf(write.id)
    return read(variantId, place)
  }

  /** @throws `INVENTORY_REQUEST_FAILED`, `INVENTORY_BUSY` */
  async function outcomeOf(id: string): Promise<{ stale: readonly string[]; short: readonly string[] }> {
    const outcome = await books.outcomeOf(id, performance.now() + WAIT_MS)
    if (outcome.kind === 'failed') throw requestFailed()
    return outcome.kind === 'counted' ? outcome : { stale: [], short: [] }
  }

  return { list, count, adjust }
}
export type LevelService = ReturnType<typeof createLevelService>
