import { createSingleFlight } from '../../../kernel/single-flight.ts'
import type { KeyValueCache } from '../../../platform/cache/cache.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { type CatalogChangePublisher, catalogCacheDeadlineOf } from './changes.ts'
import type { CheapestVariantPriceService } from './lowest-prices.ts'
import * as repository from './repository.ts'

type CachedRevision = { version: string; deadline: number }
type Deps = {
  db: Database
  cache: KeyValueCache
  changes: CatalogChangePublisher
  lowestPrices: Pick<CheapestVariantPriceService, 'repriceDue'>
  ttlSeconds: number
}

/**
 * Creates the cache of public pages. The key of a page includes the revision of the catalog, so a change
 * needs no deletion: the next request uses another key. The start and end of a discount also raise the
 * revision; the first request after it does that. Concurrent requests for a missing page share one build.
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
    if (row.is_due) {
      await lowestPrices.repriceDue()
      row = await findRevision()
    }
    const state = {
      version: `${row.shop_id}:${row.value}`,
      deadline: catalogCacheDeadlineOf(startedAt, row.changes_in)
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

  /**
   * Returns the cached page, or builds it with `make`. A null `key`: the page is not cached. `limited`
   * applies the limit of the caller around the shared build, so that no request waits in the queue of another
   * caller.
   */
  return async (
    key: string | null,
    make: () => Promise<string>,
    limited: (work: () => Promise<string>) => Promise<string> = work => work()
  ): Promise<string> => {
    const { version } = await currentRevision()
    if (key === null || ttlSeconds === 0 || !changes.isLive()) return limited(make)
    const fullKey = `catalog:${version}:${key}`
    const kept = await cache.get(fullKey)
    if (kept !== undefined) return kept
    const makeAndKeep = async () => {
      const keptMeanwhile = await cache.get(fullKey)
      if (keptMeanwhile !== undefined) return keptMeanwhile
      const page = await make()
      await cache.set(fullKey, page, ttlSeconds)
      return page
    }
    return limited(() => makeOnce(fullKey, makeAndKeep))
  }
}
export type CatalogPageCache = ReturnType<typeof createCatalogPageCache>
