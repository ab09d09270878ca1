import { RecentMap } from '../../../kernel/recent-map.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import type { Change, Changes } from './changes.ts'
import * as repository from './repository.ts'
import { type Available, availableIn } from './service.ts'

const ENTRIES_MAX = 200_000
/** Older than this a number is asked for again; what is not counted goes by messages alone. */
const AGE_MS_MAX = 1_000
/** What is asked for at this age is loaded anew beside the answer, so that what is asked for all the time never waits. */
const REFRESHED_AT_MS = 750
const REFRESH_PAUSE_MS = 100
const STATEMENT_IDS_MAX = 500

/** `loadedAt` on the monotonic clock: when the figure was asked for. */
type Entry = { readonly available: Available; readonly loadedAt: number }
/** A statement on its way: what changes meanwhile must not be kept from its answer. */
type Loading = { isOutdated: boolean; readonly outdated: Set<string> }
type Batch = { readonly ids: Set<string>; readonly loaded: Promise<ReadonlyMap<string, Available>> }
type Deps = { db: Queryable; changes: Changes; now?: () => number }

/**
 * How many of each variant can be bought, kept in this process and at most a second old. Carts and product pages ask all
 * the time, and every sale changes the answer: a message for each would cost more than the sale. What is said to all
 * processes is only that a variant ran out, came back, or is counted otherwise than before; what this process changed by
 * itself is forgotten at once.
 */
export function createAvailability({ db, changes, now = () => performance.now() }: Deps) {
  const known = new RecentMap<Entry>(ENTRIES_MAX)
  const loading = new Set<Loading>()
  const aging = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let nextBatch: Batch | undefined
  /** False: every answer is null, and nothing has to be looked up. `undefined`: nobody knows at this moment. */
  let isAnythingTracked: boolean | undefined
  let asking: Promise<void> | undefined

  const outdate = (variantIds: Change) => {
    if (isAnythingTracked === false) isAnythingTracked = undefined
    if (variantIds === 'all') known.clear()
    else for (const id of variantIds) known.delete(id)
    for (const each of loading) {
      if (variantIds === 'all') each.isOutdated = true
      else for (const id of variantIds) each.outdated.add(id)
    }
  }
  changes.subscribe({
    onChange: outdate,
    onGap: () => {
      isAnythingTracked = undefined
      outdate('all')
    }
  })

  /** Runs `read`, and hands its answer on together with what has become outdated meanwhile. */
  async function watched<T>(read: () => Promise<T>): Promise<{ answer: T; meanwhile: Loading }> {
    const meanwhile: Loading = { isOutdated: !changes.isLive(), outdated: new Set() }
    loading.add(meanwhile)
    try {
      return { answer: await read(), meanwhile }
    } finally {
      loading.delete(meanwhile)
    }
  }

  async function load(ids: readonly string[]): Promise<ReadonlyMap<string, Available>> {
    const loadedAt = now()
    const { answer, meanwhile } = await watched(() => availableIn(db, ids))
    const loaded = new Map<string, Available>()
    ids.forEach((id, index) => {
      const available = answer[index] ?? null
      loaded.set(id, available)
      if (!meanwhile.isOutdated && !meanwhile.outdated.has(id)) known.set(id, { available, loadedAt })
    })
    return loaded
  }

  /** What is missing to all who ask in one turn of the event loop is one statement. */
  function loadTogether(missing: readonly string[]): Promise<ReadonlyMap<string, Available>> {
    if (nextBatch === undefined || nextBatch.ids.size + missing.length > STATEMENT_IDS_MAX) {
      const ids = new Set<string>()
      const batch: Batch = {
        ids,
        loaded: new Promise((resolve, reject) => {
          setImmediate(() => {
            if (nextBatch === batch) nextBatch = undefined
            load([...ids]).then(resolve, reject)
          })
        })
      }
      nextBatch = batch
    }
    for (const id of missing) nextBatch.ids.add(id)
    return nextBatch.loaded
  }

  function refreshSoon(id: string): void {
    aging.add(id)
    timer ??= setTimeout(refresh, REFRESH_PAUSE_MS).unref()
  }

  function refresh(): void {
    const ids = [...aging].slice(0, STATEMENT_IDS_MAX)
    for (const id of ids) aging.delete(id)
    timer = aging.size > 0 ? setTimeout(refresh, REFRESH_PAUSE_MS).unref() : undefined
    // Whoever asks when it is too old waits for a statement then, and hears what is wrong.
    load(ids).catch(() => {})
  }

  /** In one process one statement, when it starts and after what may have been the first item that is tracked. */
  function askWhetherTracked(): Promise<void> {
    asking ??= watched(() => db.first(repository.isAnythingTracked))
      .then(({ answer, meanwhile }) => {
        const isCertain = !meanwhile.isOutdated && meanwhile.outdated.size === 0
        if (answer?.is_tracked) isAnythingTracked = true
        else if (isCertain) isAnythingTracked = false
      })
      .finally(() => {
        asking = undefined
      })
    return asking
  }

  /** See `InventoryApi.available`. Not async: when everything is in memory, one promise is all that it costs. */
  function available(variantIds: readonly string[]): Promise<Available[]> {
    const isLive = changes.isLive()
    if (isLive && isAnythingTracked === false) return Promise.resolve(variantIds.map(() => null))
    if (isLive && isAnythingTracked === undefined) askWhetherTracked().catch(() => {})
    const found: Available[] = []
    const missing: string[] = []
    const time = now()
    for (const id of variantIds) {
      const entry = isLive ? known.get(id) : undefined
      const age = entry === undefined || entry.available === null ? 0 : time - entry.loadedAt
      if (entry === undefined || age >= AGE_MS_MAX) missing.push(id)
      else if (age >= REFRESHED_AT_MS) refreshSoon(id)
      found.push(entry?.available ?? null)
    }
    if (missing.length === 0) return Promise.resolve(found)
    return loadTogether(missing).then(loaded =>
      variantIds.map((id, index) => (loaded.has(id) ? (loaded.get(id) ?? null) : (found[index] ?? null)))
    )
  }

  return {
    available,
    /** Answers once it is known whether there is anything to look up. */
    start: askWhetherTracked,
    stop: () => clearTimeout(timer)
  }
}
