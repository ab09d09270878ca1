import { RecentlyUsedMap } from '../../../kernel/recently-used-map.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import {
  ALL_VARIANTS_CHANGED,
  type AvailabilityChangeBroadcaster,
  type VariantsWithChangedAvailability
} from './changes.ts'
import * as repository from './repository.ts'
import { type AvailableQuantity, readAvailableQuantities } from './service.ts'

const ENTRIES_MAX = 200_000
/** Maximum age of a cached figure, in milliseconds. */
const AGE_MS_MAX = 1_000
/** From this age on, changes are polled in the background, so that steady readers never wait. */
const POLLED_AT_MS = 400
/** How long rows of `inventory.changes` are kept, in seconds. */
export const AVAILABILITY_CHANGE_RETENTION_SECONDS = 600
const NOTED_MS_MAX = (AVAILABILITY_CHANGE_RETENTION_SECONDS * 1_000) / 2
const STATEMENT_IDS_MAX = 500

/** A database snapshot and when it was requested (monotonic clock). Changes before it are known here. */
type Seen = { readonly snapshot: string; readonly at: number }
/** A running read. Variants that change meanwhile are collected, because its result is outdated for them. */
type Loading = { isOutdated: boolean; readonly outdated: Set<string> }
type Batch = { readonly ids: Set<string>; readonly loaded: Promise<ReadonlyMap<string, AvailableQuantity>> }
type Deps = { db: Queryable; changes: AvailabilityChangeBroadcaster; now?: () => number }

/**
 * Caches available quantities in this process, at most one second old.
 * Carts and product pages read them constantly and every sale changes them, so a message per sale would
 * cost more than the sale. Instead each batch of the stock writer records the affected variants, and a
 * process that serves reads polls these records twice a second. Changes of this process, threshold
 * crossings and policy changes are invalidated immediately.
 */
export function createAvailabilityCache({ db, changes, now = () => performance.now() }: Deps) {
  const known = new RecentlyUsedMap<AvailableQuantity>(ENTRIES_MAX)
  const loading = new Set<Loading>()
  let seen: Seen | undefined
  let gaps = 0
  let polling: Promise<void> | undefined
  let nextBatch: Batch | undefined
  /** False: no item is tracked, so every result is null without a lookup. `undefined`: not known yet. */
  let isAnythingTracked: boolean | undefined
  let asking: Promise<void> | undefined

  const outdate = (variantIds: VariantsWithChangedAvailability) => {
    if (isAnythingTracked === false) isAnythingTracked = undefined
    if (variantIds === ALL_VARIANTS_CHANGED) known.clear()
    else for (const id of variantIds) known.delete(id)
    for (const each of loading) {
      if (variantIds === ALL_VARIANTS_CHANGED) each.isOutdated = true
      else for (const id of variantIds) each.outdated.add(id)
    }
  }
  changes.subscribe({
    onChange: outdate,
    onGap: () => {
      // After a failover the server may be a different one, for which the snapshot is meaningless.
      gaps += 1
      seen = undefined
      isAnythingTracked = undefined
      outdate(ALL_VARIANTS_CHANGED)
    }
  })

  /** Runs `read` and returns its result with the variants that changed meanwhile. */
  async function watched<T>(read: () => Promise<T>): Promise<{ answer: T; meanwhile: Loading }> {
    const meanwhile: Loading = { isOutdated: !changes.isLive(), outdated: new Set() }
    loading.add(meanwhile)
    try {
      return { answer: await read(), meanwhile }
    } finally {
      loading.delete(meanwhile)
    }
  }

  async function load(ids: readonly string[]): Promise<ReadonlyMap<string, AvailableQuantity>> {
    const { answer, meanwhile } = await watched(() => readAvailableQuantities(db, ids))
    const loaded = new Map<string, AvailableQuantity>()
    ids.forEach((id, index) => {
      const available = answer[index] ?? null
      loaded.set(id, available)
      if (!meanwhile.isOutdated && !meanwhile.outdated.has(id)) known.set(id, available)
    })
    return loaded
  }

  /** Loads the missing ids of all callers of one event-loop turn in one statement. */
  function loadTogether(missing: readonly string[]): Promise<ReadonlyMap<string, AvailableQuantity>> {
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

  /** Polls the changes since the last snapshot and invalidates them. */
  function poll(): Promise<void> {
    const at = now()
    const gapsBefore = gaps
    const since = seen !== undefined && at - seen.at < NOTED_MS_MAX ? seen.snapshot : null
    polling ??= db
      .first(repository.listVariantsWithChangedStock, { since })
      .then(answer => {
        if (answer === undefined) throw new Error('no snapshot')
        outdate(since === null ? ALL_VARIANTS_CHANGED : answer.variant_ids)
        if (gaps === gapsBefore) seen = { snapshot: answer.snapshot, at }
      })
      .finally(() => {
        polling = undefined
      })
    return polling
  }

  /** Checks whether any item is tracked: at start, and after a change that may have tracked the first one. */
  function askWhetherTracked(): Promise<void> {
    asking ??= watched(() => db.first(repository.existsTrackedInventoryItem))
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

  /** See `InventoryApi.available`. Not async, so a full cache hit costs a single promise. */
  function available(variantIds: readonly string[]): Promise<AvailableQuantity[]> {
    if (changes.isLive()) {
      if (isAnythingTracked === false) return Promise.resolve(variantIds.map(() => null))
      if (isAnythingTracked === undefined) askWhetherTracked().catch(() => {})
      const age = seen === undefined ? AGE_MS_MAX : now() - seen.at
      if (age >= AGE_MS_MAX) return poll().then(() => lookUp(variantIds))
      // A failed poll is ignored here. Once the cache is too old, readers wait for a poll and get its error.
      if (age >= POLLED_AT_MS) poll().catch(() => {})
    }
    return lookUp(variantIds)
  }

  function lookUp(variantIds: readonly string[]): Promise<AvailableQuantity[]> {
    const isLive = changes.isLive()
    const found: AvailableQuantity[] = []
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

  /** See `InventoryApi.availableCached`. */
  function availableCached(variantIds: readonly string[]): AvailableQuantity[] | undefined {
    if (!changes.isLive() || isAnythingTracked === undefined) return undefined
    if (!isAnythingTracked) return variantIds.map(() => null)
    // From then on `available` polls.
    if (seen === undefined || now() - seen.at >= POLLED_AT_MS) return undefined
    const found: AvailableQuantity[] = []
    for (const id of variantIds) {
      const figure = known.get(id)
      if (figure === undefined) return undefined
      found.push(figure)
    }
    return found
  }

  return {
    available,
    availableCached,
    /** Resolves once it is known whether any item is tracked. */
    start: askWhetherTracked
  }
}
