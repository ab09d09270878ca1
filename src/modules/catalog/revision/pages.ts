import { singleFlight } from '../../../kernel/single-flight.ts'
import type { Cache } from '../../../platform/cache.ts'
import type { Database } from '../../../platform/postgres.ts'
import { type Changes, deadlineOf } from './changes.ts'
import { repriceDue } from './prices.ts'
import * as repository from './repository.ts'

type State = { version: string; deadline: number }
type Deps = { db: Database; cache: Cache; changes: Changes; currency: string; ttlSeconds: number }

/**
 * Public pages of the catalog, kept under the revision that they were made from: a change needs no deleting, the
 * next request asks for another key. The start and the end of a discount make a revision of their own, which whoever
 * comes first notes down. However many ask for a page that is not there, it is made once.
 */
export function createPages({ db, cache, changes, currency, ttlSeconds }: Deps) {
  const loadOnce = singleFlight<State>()
  const makeOnce = singleFlight<string>()
  let known: State | undefined
  let heard = 0

  const forget = () => {
    heard += 1
    known = undefined
  }
  changes.subscribe({ onGap: forget, onChange: forget })

  async function load(): Promise<State> {
    const startedAt = performance.now()
    const heardBefore = heard
    let row = await repository.find(db)
    if (row.is_due) {
      if (!(await repriceDue(db, currency))) changes.repriceSoon()
      row = await repository.find(db)
    }
    const state = { version: `${row.shop_id}:${row.value}`, deadline: deadlineOf(startedAt, row.changes_in) }
    if (heard === heardBefore && changes.isLive()) known = state
    return state
  }

  // Only who has heard the same shares the answer: after a change nobody is told of the revision before it.
  const current = async () =>
    known !== undefined && changes.isLive() && performance.now() < known.deadline
      ? known
      : loadOnce(String(heard), load)

  /** The page under `key`, or what `make` makes of the present catalog. `null`: not worth keeping. */
  return async (key: string | null, make: () => Promise<string>): Promise<string> => {
    const { version } = await current()
    if (key === null || ttlSeconds === 0 || !changes.isLive()) return make()
    const fullKey = `catalog:${version}:${key}`
    const kept = await cache.get(fullKey)
    if (kept !== undefined) return kept
    return makeOnce(fullKey, async () => {
      const page = await make()
      await cache.set(fullKey, page, ttlSeconds)
      return page
    })
  }
}
export type Pages = ReturnType<typeof createPages>
