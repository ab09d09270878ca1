import { createLru } from '../../kernel/lru.ts'

/**
 * A place for what may be lost: product pages and lists. Reading and writing never fail, a
 * cache that cannot answer is a miss. Keys carry the revision of what they were made from, so nothing has to be
 * deleted to be out of date.
 */
export type Cache = {
  get(key: string): Promise<string | undefined>
  /** Keeps `value` for so long at most; not at all when that is no time. */
  set(key: string, value: string, ttlSeconds: number): Promise<void>
  /**
   * Whether the cache can be read and written, and the state of the Redis behind it: one real round trip. A Redis that
   * does not answer is `DOWN`, and the cache serves from the memory of this process. Rejects when it cannot do that either.
   */
  ping(): Promise<RedisState>
  statistics(): CacheStatistics
  close(): Promise<void>
}

/** `null`: the cache works without Redis. */
export type RedisState = 'UP' | 'DOWN' | null

/** Since the start of the process; `entries` are those in the memory of this process, and `redis` is as of the last operation. */
type CacheStatistics = {
  adapter: 'memory' | 'redis'
  redis: RedisState
  hits: number
  misses: number
  errors: number
  entries: number
  operations: number
  operation_seconds: number
}

const BYTES_MAX = 67_108_864 // pages differ in size a hundredfold: their number alone bounds nothing

/** The cache of a single process. */
export function createMemoryCache(entriesMax: number): Cache {
  const entries = createLru<string>({
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
      entries: entries.size,
      operations: figures.operations,
      operation_seconds: figures.seconds
    }),
    close: async () => {
      entries.clear()
    }
  }
}
