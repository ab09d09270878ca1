import { createSingleFlight } from '../kernel/single-flight.ts'
import type { Broadcast } from './broadcast.ts'
import type { Transaction } from './postgres/database.ts'

/** Invalidates what every process caches of one topic. */
export type CacheInvalidator = {
  /**
   * Invalidates the caches of the topic when `tx` commits: in this process immediately, in others within a second. Repeated
   * calls in one transaction are harmless.
   */
  publish(tx: Transaction): void
  /** `onChange` is called after each invalidation, and whenever an invalidation message may have been lost. */
  subscribe(onChange: () => void): void
  /** False while invalidation messages may be lost. Then nothing may be cached. */
  isLive(): boolean
}

/** `topic`: names what changes, uniquely among all topics. */
export function createCacheInvalidator(broadcast: Broadcast, topic: string): CacheInvalidator {
  const announced = new WeakSet<Transaction>()
  const subscribers: (() => void)[] = []
  const notifySubscribers = () => {
    for (const onChange of subscribers) onChange()
  }
  broadcast.subscribe(topic, { onMessage: notifySubscribers, onGap: notifySubscribers })

  return {
    publish: tx => {
      if (announced.has(tx)) return
      announced.add(tx)
      // NOTIFY takes a database-wide lock until the commit, so it is sent last.
      tx.beforeCommit(() => broadcast.publish(tx, topic, ''))
      tx.afterCommit(notifySubscribers)
    },
    subscribe: onChange => subscribers.push(onChange),
    isLive: broadcast.isLive
  }
}

/**
 * Returns a reader that caches the result of `load` in this process until it is invalidated. Simultaneous calls share one
 * load. While messages may be lost, it loads on each call.
 */
export function createCachedReader<T>(
  { subscribe, isLive }: Pick<CacheInvalidator, 'subscribe' | 'isLive'>,
  load: () => Promise<T>
) {
  const loadOnce = createSingleFlight<T>()
  let cached: { readonly value: T } | undefined
  let generation = 0
  subscribe(() => {
    generation += 1
    cached = undefined
  })

  async function loadAndCache(): Promise<T> {
    const generationBefore = generation
    const value = await load()
    // A value read before an invalidation that arrived meanwhile is stale.
    if (generation === generationBefore && isLive()) cached = { value }
    return value
  }

  const read = async (): Promise<T> =>
    cached !== undefined && isLive() ? cached.value : loadOnce(String(generation), loadAndCache)
  /** Returns the cached value; `undefined` while the next call loads it. */
  const peek = (): T | undefined => (isLive() ? cached?.value : undefined)
  return Object.assign(read, { peek })
}
