import { LRUCache } from 'lru-cache'

/**
 * A place for what may be lost: product pages and lists, documents of issuers. Reading and writing never fail, a
 * cache that cannot answer is a miss. Keys carry the revision of what they were made from, so nothing has to be
 * deleted to be out of date.
 */
export type Cache = {
  get(key: string): Promise<string | undefined>
  set(key: string, value: string, ttlSeconds: number): Promise<void>
  /** One real round trip. Rejects when the cache does not answer. */
  ping(): Promise<void>
  statistics(): CacheStatistics
  close(): Promise<void>
}

/** Since the start of the process; `entries` is what this process can tell (0 for a cache elsewhere). */
export type CacheStatistics = {
  adapter: 'memory' | 'redis'
  hits: number
  misses: number
  errors: number
  entries: number
  operations: number
  operation_seconds: number
}

/** The cache of a single process. */
export function createMemoryCache(entriesMax: number): Cache {
  const entries = new LRUCache<string, string>({ max: entriesMax })
  const figures = { hits: 0, misses: 0, seconds: 0 }
  return {
    get: async key => {
      const startedAt = performance.now()
      const value = entries.get(key)
      figures[value === undefined ? 'misses' : 'hits'] += 1
      figures.seconds += (performance.now() - startedAt) / 1_000
      return value
    },
    set: async (key, value, ttlSeconds) => {
      entries.set(key, value, { ttl: ttlSeconds * 1_000 })
    },
    ping: async () => {},
    statistics: () => ({
      adapter: 'memory',
      hits: figures.hits,
      misses: figures.misses,
      errors: 0,
      entries: entries.size,
      operations: figures.hits + figures.misses,
      operation_seconds: figures.seconds
    }),
    close: async () => {
      entries.clear()
    }
  }
}
