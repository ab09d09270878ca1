import type { Broadcast } from '../../../platform/broadcast.ts'
import type { Cache } from '../../../platform/cache.ts'
import type { Database } from '../../../platform/postgres.ts'
import { deadlineOf, onChange } from './changes.ts'
import * as repository from './repository.ts'

type State = { revision: number; deadline: number }
type Deps = { db: Database; cache: Cache; broadcast: Broadcast; currency: string; ttlSeconds: number }

/**
 * Public pages of the catalog, kept under the revision that they were made from: a change needs no deleting, the
 * next request asks for another key. No page outlives the next start or end of a discount.
 */
export function createPages({ db, cache, broadcast, currency, ttlSeconds }: Deps) {
  let known: State | undefined
  let changes = 0

  const forget = () => {
    changes += 1
    known = undefined
  }
  onChange(broadcast, { onGap: forget, onChange: forget })

  async function load(): Promise<State> {
    const startedAt = performance.now()
    const changesBefore = changes
    let row = await repository.find(db, currency)
    if (row.is_mispriced) {
      await repriceAll(db, currency)
      row = await repository.find(db, currency)
    }
    const state = { revision: row.value, deadline: deadlineOf(startedAt, row.changes_in) }
    if (changes === changesBefore && broadcast.isLive()) known = state
    return state
  }

  const current = async () =>
    known !== undefined && broadcast.isLive() && performance.now() < known.deadline ? known : load()

  /** The page under `key`, or what `make` makes of the present catalog. `null`: not worth keeping. */
  return async (key: string | null, make: () => Promise<string>): Promise<string> => {
    const { revision, deadline } = await current()
    if (key === null || ttlSeconds === 0 || !broadcast.isLive()) return make()
    const fullKey = `catalog:${revision}:${key}`
    const kept = await cache.get(fullKey)
    if (kept !== undefined) return kept
    const page = await make()
    const seconds = Math.floor(Math.min(ttlSeconds, (deadline - performance.now()) / 1_000))
    if (seconds > 0) await cache.set(fullKey, page, seconds)
    return page
  }
}
export type Pages = ReturnType<typeof createPages>

/**
 * Brings the lowest prices of all products up to date, and answers how many were not. Those that somebody is
 * changing at this moment are left to them: a visitor must not wait for an import.
 */
export async function repriceAll(db: Database, currency: string): Promise<number> {
  return db.transaction(async tx => {
    const ids = await repository.lockFree(tx, await repository.listMispriced(tx, currency))
    await repository.reprice(tx, ids, currency)
    await repository.markAllPriced(tx, currency)
    return ids.length
  })
}
