import { singleFlight } from '../../../kernel/single-flight.ts'
import type { Cache } from '../../../platform/cache/cache.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { type Changes, deadlineOf } from './changes.ts'
import type { LowestPrices } from './prices.ts'
import * as repository from './repository.ts'

type State = { version: string; deadline: number }
type Deps = {
  db: Database
  cache: Cache
  changes: Changes
  lowestPrices: Pick<LowestPrices, 'repriceDue'>
  ttlSeconds: number
}

/**
 * Public pages of the catalog, kept under the revision that they were made from: a change needs no deleting, the
 * next request asks for another key. The start and the end of a discount make a revision of their own, which whoever
 * comes first notes down. However many ask for a page that is not there, it is made once.
 */
export function createPages({ db, cache, changes, lowestPrices, ttlSeconds }: Deps) {
  const loadOnce = singleFlight<State>()
  const makeOnce = singleFlight<string>()
  let known: State | undefined
  let generation = 0

  const forget = () => {
    generation += 1
    known = undefined
  }
  changes.subscribe({ onGap: forget, onChange: forget })

  async function findRevision(): Promise<repository.RevisionRow> {
    const row = await db.first(repository.findRevision)
    if (row === undefined) throw new Error('catalog.revision has lost its row')
    return row
  }

  async function load(): Promise<State> {
    const startedAt = performance.now()
    const generationBefore = generation
    let row = await findRevision()
    if (row.is_due) {
      await lowestPrices.repriceDue()
      row = await findRevision()
    }
    const state = { version: `${row.shop_id}:${row.value}`, deadline: deadlineOf(startedAt, row.changes_in) }
    if (generation === generationBefore && changes.isLive()) known = state
    return state
  }

  // A load under way is shared until the next change: whoever asks after one is not given the revision before it.
  const current = async () =>
    known !== undefined && changes.isLive() && performance.now() < known.deadline
      ? known
      : loadOnce(String(generation), load)

  /**
   * The page under `key`, or what `make` makes of the present catalog. `null`: not worth keeping. `limited` runs what
   * has to be made within its caller's limit, outside of the sharing: nobody waits in the line of another caller.
   */
  return async (
    key: string | null,
    make: () => Promise<string>,
    limited: (work: () => Promise<string>) => Promise<string> = work => work()
  ): Promise<string> => {
    const { version } = await current()
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
export type Pages = ReturnType<typeof createPages>
