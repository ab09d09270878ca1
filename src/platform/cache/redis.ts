import { Redis } from 'ioredis'
import type { Log } from '../log.ts'
import type { Cache } from './cache.ts'

const KEY_PREFIX = 'cartwright:'
const OPERATION_TIMEOUT_MS = 100
const PING_TIMEOUT_MS = 1_000
/** A connection that answers nothing for so long is made anew. */
const SILENCE_MS_MAX = 400
const RECONNECT_PAUSE_MS_MAX = 200
/** After an operation that timed out nothing is tried for so long: a server that hangs slows four readers a second. */
const REST_MS = 250

/**
 * The cache that processes share: a Redis or Valkey server, by `redis://` or `rediss://` (TLS). It connects by itself,
 * now and after every loss. Until it is connected operations fail at once; reading is a miss then.
 */
export function createRedisCache(url: string, log: Log): Cache {
  const redis = new Redis(url, {
    keyPrefix: KEY_PREFIX,
    connectTimeout: SILENCE_MS_MAX,
    socketTimeout: SILENCE_MS_MAX,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    retryStrategy: failures => Math.min(25 * 2 ** failures, RECONNECT_PAUSE_MS_MAX)
  })
  let isReported = false
  redis.on('error', error => {
    if (!isReported) log.warn({ err: error }, 'the cache cannot be reached: pages come from the database')
    isReported = true
  })
  redis.on('ready', () => {
    if (isReported) log.info('the cache is reached again')
    isReported = false
  })
  const figures = { hits: 0, misses: 0, errors: 0, operations: 0, seconds: 0 }
  let restsUntil = 0

  const operate = async <T>(operation: () => Promise<T>): Promise<T | undefined> => {
    const startedAt = performance.now()
    figures.operations += 1
    if (startedAt < restsUntil) {
      figures.errors += 1
      return undefined
    }
    try {
      return await within(OPERATION_TIMEOUT_MS, operation())
    } catch (error) {
      figures.errors += 1
      if (error instanceof CacheTimeout) restsUntil = performance.now() + REST_MS
      return undefined
    } finally {
      figures.seconds += (performance.now() - startedAt) / 1_000
    }
  }

  return {
    get: async key => {
      const value = (await operate(() => redis.get(key))) ?? undefined
      figures[value === undefined ? 'misses' : 'hits'] += 1
      return value
    },
    set: async (key, value, ttlSeconds) => {
      const ttlMs = Math.ceil(ttlSeconds * 1_000)
      if (ttlMs > 0) await operate(() => redis.set(key, value, 'PX', ttlMs))
    },
    ping: async () => {
      await within(PING_TIMEOUT_MS, redis.ping())
    },
    statistics: () => ({
      adapter: 'redis',
      hits: figures.hits,
      misses: figures.misses,
      errors: figures.errors,
      entries: 0,
      operations: figures.operations,
      operation_seconds: figures.seconds
    }),
    close: async () => redis.disconnect()
  }
}

class CacheTimeout extends Error {}

/** What `answer` says, unless it takes longer. */
async function within<T>(timeoutMs: number, answer: Promise<T>): Promise<T> {
  const { promise: timeout, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new CacheTimeout('The cache does not answer.')), timeoutMs)
  try {
    return await Promise.race([answer, timeout])
  } finally {
    clearTimeout(timer)
  }
}
