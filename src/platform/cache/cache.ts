import { createLruCache } from '../../kernel/lru-cache.ts'
import type { ExchangeBudgetClaims } from '../../kernel/shared-request-budgets.ts'

/**
 * Caches product pages and lists. `get` and `set` never reject: an unavailable cache is a miss. Keys contain the revision of
 * the data, so stale entries need no deletion.
 */
export type KeyValueCache = {
  get(key: string): Promise<string | undefined>
  /** Stores `value` for this long at most; not at all when the time is not positive. */
  set(key: string, value: string, ttlSeconds: number): Promise<void>
  /**
   * Makes one round trip and returns the state of Redis. A Redis without response is `DOWN`, and the cache uses the memory of
   * this process. Rejects when that fails as well.
   */
  ping(): Promise<RedisHealth>
  statistics(): CacheStatistics
  /** Adds up what processes take of limits of requests; absent without Redis. Rejects while Redis does not answer. */
  exchangeBudgetClaims?: ExchangeBudgetClaims
  close(): Promise<void>
}

/** `null` without a configured Redis. */
export type RedisHealth = 'UP' | 'DOWN' | null

/** Counts since the start of the process; `entries` in its memory; `redis` as of the last operation. */
type CacheStatistics = {
  adapter: 'memory' | 'redis'
  redis: RedisHealth
  hits: number
  misses: number
  errors: number
  entries: number
  operations: number
  operation_seconds: number
}

const BYTES_MAX = 67_108_864 // pages differ in size a hundredfold: their number alone bounds nothing

/** The cache of a single process. */
export function createMemoryCache(entriesMax: number): KeyValueCache {
  const entries = createLruCache<string>({
    entriesMax,
    sizeMax: BYTES_MAX,
    sizeOf: (value, key) => value.length + key.length
  })
  const figures = { hits: 0, misses: 0, operations: 0, seconds: 0 }
  const operate = <T>(operation: () => T): T => {
    const startedAt = performance.now()
    const result = operation()
    figures.operations += 1
    figures.seconds += (performance.now() - startedAt) / 1_000
    return result
  }
  return {
    get: async key => {
      const value = operate(() => entries.get(key))
      figures[value === undefined ? 'misses' : 'hits'] += 1
      return value
    },
    set: async (key, value, ttlSeconds) => {
      const ttl = Math.ceil(ttlSeconds * 1_000)
      if (ttl > 0) operate(() => entries.set(key, value, { ttl }))
    },
    ping: async () => null,
    statistics: () => ({
      adapter: 'memory',
      redis: null,
      hits: figures.hits,
      misses: figures.misses,
      errors: 0,
      entries: entries.size(),
      operations: figures.operations,
      operation_seconds: figures.seconds
    }),
    close: async () => {
      entries.clear()
    }
  }
}
