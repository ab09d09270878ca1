import { nextCursorInJson } from '../../../kernel/pages.ts'
import { createSingleFlight } from '../../../kernel/single-flight.ts'
import type { KeyValueCache } from '../../../platform/cache/cache.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { type CatalogChangePublisher, catalogCacheDeadlineOf } from './changes.ts'
import type { CheapestVariantPriceService } from './lowest-prices.ts'
import * as repository from './repository.ts'

/** A page as JSON text. */
export type CatalogPage = {
  readonly json: string
  /** Of a cached page: whether it is still the one that would be returned. */
  readonly isCurrent: (() => boolean) | undefined
  /** Milliseconds until a discount starts or ends. 0: the catalog has changed since the page was requested. */
  readonly changesInMs: () => number
}
/** Its functions are those of all its pages, because the gateway keeps them with each response. */
type CachedRevision = {
  readonly version: string
  readonly deadline: number
  readonly isCurrent: () => boolean
  readonly changesInMs: () => number
}
type PageRequest = {
  /** Null: the page is not cached. That of a list starts with `LIST_PREFIX`. */
  readonly key: string | null
  /** The cursor of a further page of the list `key`. It is cached only if a cached page of the list has returned the cursor. */
  readonly cursor?: string | undefined
  make(): Promise<string>
  /** Applies the limit of the caller around the shared build, so that no request waits in the queue of another caller. */
  limited?(work: () => Promise<string>): Promise<string>
}

/** Starts the key of a list of products. */
export const LIST_PREFIX = 'products:'
/** Marks a cursor that a cached page has returned, so that clients cannot fill the cache with cursors of their own. */
const RETURNED = 'returned'

type Deps = {
  db: Database
  cache: KeyValueCache
  changes: CatalogChangePublisher
  lowestPrices: Pick<CheapestVariantPriceService, 'repriceDue'>
  ttlSeconds: number
}

/**
 * Creates the cache of public pages. The key of a page includes the revision of the catalog and the id of its last
 * change, so a change needs no deletion: the next request uses another key. After a failover that lost changes the
 * revision repeats, and the id does not. The start and end of a discount also raise the revision; the first request
 * after it does that. Concurrent requests for a missing page share one build.
 */
export function createCatalogPageCache({ db, cache, changes, lowestPrices, ttlSeconds }: Deps) {
  const loadOnce = createSingleFlight<CachedRevision>()
  const makeOnce = createSingleFlight<string>()
  let cached: CachedRevision | undefined
  let generation = 0

  const invalidate = () => {
    generation += 1
    cached = undefined
  }
  changes.subscribe({ onGap: invalidate, onChange: invalidate })

  async function findRevision(): Promise<repository.CatalogRevisionRow> {
    const row = await db.first(repository.findCatalogRevision)
    if (row === undefined) throw new Error('catalog.revision has no row')
    return row
  }

  async function load(): Promise<CachedRevision> {
    const startedAt = performance.now()
    const generationBefore = generation
    let row = await findRevision()
    // A process that only reads leaves it to one that writes. Until then it builds every page.
    if (row.is_due && !db.isReadOnly) {
      await lowestPrices.repriceDue()
      row = await findRevision()
    }
    const version = `${row.shop_id}:${row.value}:${row.change_id}${row.is_due ? ':due' : ''}`
    const changesAt = startedAt + (row.changes_in ?? Infinity) * 1_000
    const isCurrent = () =>
      cached?.version === version && changes.isLive() && performance.now() < cached.deadline
    const state = {
      version,
      deadline: catalogCacheDeadlineOf(startedAt, row.changes_in),
      isCurrent,
      changesInMs: () => (isCurrent() ? changesAt - performance.now() : 0)
    }
    if (generation === generationBefore && changes.isLive()) cached = state
    return state
  }

  // Concurrent loads are shared by generation, so that a request after a change never gets the revision
  // before it.
  const currentRevision = async () =>
    cached !== undefined && changes.isLive() && performance.now() < cached.deadline
      ? cached
      : loadOnce(String(generation), load)

  /** Returns the cached page, or builds it with `make`. */
  return async ({ key, cursor, make, limited = work => work() }: PageRequest): Promise<CatalogPage> => {
    const { version, isCurrent, changesInMs } = await currentRevision()
    const build = async (): Promise<CatalogPage> => ({
      json: await limited(make),
      isCurrent: undefined,
      changesInMs
    })
    if (key === null || ttlSeconds === 0 || !changes.isLive()) return build()
    const listKey = `catalog:${version}:${key}`
    const fullKey = cursor === undefined ? listKey : `${listKey}:after:${cursor}`
    const page = (json: string): CatalogPage => ({ json, isCurrent, changesInMs })
    const cursorKey = (returned: string) => `${listKey}:returned:${returned}`

    const kept = await cache.get(fullKey)
    if (kept !== undefined) return page(kept)
    if (cursor !== undefined && (await cache.get(cursorKey(cursor))) === undefined) return build()
    const makeAndKeep = async () => {
      const keptMeanwhile = await cache.get(fullKey)
      if (keptMeanwhile !== undefined) return keptMeanwhile
      const json = await make()
      // A change that was made meanwhile can be on the page, and a failover can lose it.
      if (!isCurrent()) return json
      await cache.set(fullKey, json, ttlSeconds)
      const next = key.startsWith(LIST_PREFIX) ? nextCursorInJson(json) : undefined
      // Twice as long, because the page that returned the cursor expires before the page that follows it, and sets this again.
      if (next !== undefined) await cache.set(cursorKey(next), RETURNED, 2 * ttlSeconds)
      return json
    }
    return page(await limited(() => makeOnce(fullKey, makeAndKeep)))
  }
}
export type CatalogPageCache = ReturnType<typeof createCatalogPageCache>
