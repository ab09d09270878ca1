import { Redis } from 'ioredis'
import type { Log } from '../log.ts'
import { createMemoryCache, type KeyValueCache } from './cache.ts'
import { createRedisLimits } from './redis-limits.ts'

const KEY_PREFIX = 'cartwright:'
/** A slower Redis counts as down, because reading the database costs less. */
const ANSWER_MS_MAX = 100
/** A connection without response for this long is replaced. */
const SILENCE_MS_MAX = 400
const RECONNECT_PAUSE_MS_MAX = 200
/** Pause after a timeout, so that a hanging server delays four readers a second at most. */
const REST_MS = 250

/**
 * A cache shared by processes: a Redis or Valkey server, by `redis://` or `rediss://` (TLS). It connects in the background and
 * reconnects after each loss. While Redis does not answer, up to `entriesMax` entries in the memory of this process are used.
 */
export function createRedisCache(url: string, log: Log, entriesMax: number): KeyValueCache {
  const fallback = createMemoryCache(entriesMax)
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
    if (!isReported)
      log.warn({ err: error }, 'Redis cannot be reached: this process caches in its own memory')
    isReported = true
  })
  redis.on('ready', () => {
    if (isReported) log.info('Redis is reached again')
    isReported = false
  })
  const figures = { hits: 0, misses: 0, errors: 0, operations: 0, seconds: 0 }
  let restsUntil = 0
  let isUp = false
  let isClosed = false

  /** Runs an operation on Redis. Returns the result of the memory of this process when Redis does not answer. */
  const operate = async <T>(ask: () => Promise<T>, askFallback: () => Promise<T>): Promise<T> => {
    const startedAt = performance.now()
    figures.operations += 1
    try {
      if (startedAt >= restsUntil) {
        const answer = await inTime(ask())
        isUp = true
        return answer
      }
    } catch (error) {
      isUp = false
      if (error instanceof CacheTimeout) restsUntil = performance.now() + REST_MS
    } finally {
      figures.seconds += (performance.now() - startedAt) / 1_000
    }
    figures.errors += 1
    return askFallback()
  }

  const claimFromLimits = createRedisLimits(redis)

  return {
    exchangeBudgetClaims: claims =>
      operate(
        () => claimFromLimits(claims),
        () => Promise.reject(new Error('Redis does not answer.'))
      ),
    get: async key => {
      const value = await operate(
        async () => (await redis.get(key)) ?? undefined,
        () => fallback.get(key)
      )
      figures[value === undefined ? 'misses' : 'hits'] += 1
      return value
    },
    set: async (key, value, ttlSeconds) => {
      const ttlMs = Math.ceil(ttlSeconds * 1_000)
      if (ttlMs <= 0) return
      await operate(
        async () => {
          await redis.set(key, value, 'PX', ttlMs)
        },
        () => fallback.set(key, value, ttlSeconds)
      )
    },
    ping: async () => {
      if (isClosed) throw new Error('The cache is closed.')
      isUp = await inTime(redis.ping()).then(
        () => true,
        () => false
      )
      return isUp ? 'UP' : 'DOWN'
    },
    statistics: () => ({
      adapter: 'redis',
      redis: isUp && redis.status === 'ready' ? 'UP' : 'DOWN',
      hits: figures.hits,
      misses: figures.misses,
      errors: figures.errors,
      entries: fallback.statistics().entries,
      operations: figures.operations,
      operation_seconds: figures.seconds
    }),
    close: async () => {
      isClosed = true
      redis.disconnect()
      await fallback.close()
    }
  }
}

class CacheTimeout extends Error {}

async function inTime<T>(answer: Promise<T>): Promise<T> {
  const { promise: timeout, reject } = Promise.withResolvers<never>()
  const giveUp = () => reject(new CacheTimeout('Redis does not answer.'))
  // Waits one turn of the event loop: when this process was busy, the response has arrived but is not read yet.
  const timer = setTimeout(() => setImmediate(giveUp), ANSWER_MS_MAX)
  try {
    return await Promise.race([answer, timeout])
  } finally {
    clearTimeout(timer)
  }
}
