import { RecentMap } from '../../../kernel/recent-map.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import { ALL, type Change, type Changes } from './changes.ts'
import * as repository from './repository.ts'
import { type Available, availableIn } from './service.ts'

const ENTRIES_MAX = 200_000
/** A figure is at most so old: nobody gets one before all is known that had changed so long ago. */
const AGE_MS_MAX = 1_000
/** From this age on it is asked beside the answers what has changed, so that whoever asks all the time never waits. */
const POLLED_AT_MS = 400
/** So long it is known what has changed since. */
export const NOTED_SECONDS = 600
const NOTED_MS_MAX = (NOTED_SECONDS * 1_000) / 2
const STATEMENT_IDS_MAX = 500

/** A snapshot of the database, and when it was asked for, on the monotonic clock: what changed before is known here. */
type Seen = { readonly snapshot: string; readonly at: number }
/** A statement on its way: what changes meanwhile must not be kept from its answer. */
type Loading = { isOutdated: boolean; readonly outdated: Set<string> }
type Batch = { readonly ids: Set<string>; readonly loaded: Promise<ReadonlyMap<string, Available>> }
type Deps = { db: Queryable; changes: Changes; now?: () => number }

/**
 * How many of each variant can be bought, kept in this process and at most a second old. Carts and product pages ask all
 * the time, and every sale changes the answer: a message for each would cost more than the sale. So each batch of the stock
 * writer notes of which variants something else can be bought, and as long as anybody asks, a process asks twice a second for
 * what was noted since. What this process changed by itself, what ran out or came back, and what is counted otherwise than
 * before is forgotten at once.
 */
export function createAvailability({ db, changes, now = () => performance.now() }: Deps) {
  const known = new RecentMap<Available>(ENTRIES_MAX)
  const loading = new Set<Loading>()
  let seen: Seen | undefined
  let gaps = 0
  let polling: Promise<void> | undefined
  let nextBatch: Batch | undefined
  /** False: every answer is null, and nothing has to be looked up. `undefined`: nobody knows at this moment. */
  let isAnythingTracked: boolean | undefined
  let asking: Promise<void> | undefined

  const outdate = (variantIds: Change) => {
    if (isAnythingTracked === false) isAnythingTracked = undefined
    if (variantIds === ALL) known.clear()
    else for (const id of variantIds) known.delete(id)
    for (const each of loading) {
      if (variantIds === ALL) each.isOutdated = true
      else for (const id of variantIds) each.outdated.add(id)
    }
  }
  changes.subscribe({
    onChange: outdate,
    onGap: () => {
      // The server may be another one by now, to which a snapshot of the former says nothing.
      gaps += 1
      seen = undefined
      isAnythingTracked = undefined
      outdate(ALL)
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
    const { answer, meanwhile } = await watched(() => availableIn(db, ids))
    const loaded = new Map<string, Available>()
    ids.forEach((id, index) => {
      const available = answer[index] ?? null
      loaded.set(id, available)
      if (!meanwhile.isOutdated && !meanwhile.outdated.has(id)) known.set(id, available)
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

  /** Forgets what has changed since the last time. */
  function poll(): Promise<void> {
    const at = now()
    const gapsBefore = gaps
    const since = seen !== undefined && at - seen.at < NOTED_MS_MAX ? seen.snapshot : null
    polling ??= db
      .first(repository.listChanges, { since })
      .then(answer => {
        if (answer === undefined) throw new Error('no snapshot')
        outdate(since === null ? ALL : answer.variant_ids)
        if (gaps === gapsBefore) seen = { snapshot: answer.snapshot, at }
      })
      .finally(() => {
        polling = undefined
      })
    return polling
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
    if (changes.isLive()) {
      if (isAnythingTracked === false) return Promise.resolve(variantIds.map(() => null))
      if (isAnythingTracked === undefined) askWhetherTracked().catch(() => {})
      const age = seen === undefined ? AGE_MS_MAX : now() - seen.at
      if (age >= AGE_MS_MAX) return poll().then(() => lookUp(variantIds))
      // Whoever asks when all is too old waits for a statement then, and hears what is wrong.
      if (age >= POLLED_AT_MS) poll().catch(() => {})
    }
    return lookUp(variantIds)
  }

  function lookUp(variantIds: readonly string[]): Promise<Available[]> {
    const isLive = changes.isLive()
    const found: Available[] = []
    const missing: string[] = []
    for (const id of variantIds) {
      const figure = isLive ? known.get(id) : undefined
      if (figure === undefined) missing.push(id)
      found.push(figure ?? null)
    }
    if (missing.length === 0) return Promise.resolve(found)
    return loadTogether(missing).then(loaded =>
      variantIds.map((id, index) => (loaded.has(id) ? (loaded.get(id) ?? null) : (found[index] ?? null)))
    )
  }

  return {
    available,
    /** Answers once it is known whether there is anything to look up. */
    start: askWhetherTracked
  }
}
