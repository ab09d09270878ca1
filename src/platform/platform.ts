import type { Config } from '../config.ts'
import { type Broadcast, openBroadcast } from './broadcast.ts'
import { type Cache, createMemoryCache } from './cache.ts'
import { createJobs, type Jobs } from './jobs.ts'
import type { Log } from './log.ts'
import { type Database, openDatabase } from './postgres.ts'
import { connectionSettings } from './postgres-connect.ts'

/** The outside world, opened once and handed to every module's `setup`, which takes from it what it needs. */
export type Platform = {
  config: Config
  log: Log
  db: Database
  cache: Cache
  broadcast: Broadcast
  jobs: Jobs
  close(): Promise<void>
}

/** Connects to the (migrated) database at `databaseUrl` and to the cache. @throws OperatorError when it cannot. */
export async function openPlatform(config: Config, databaseUrl: string, log: Log): Promise<Platform> {
  const options = {
    url: databaseUrl,
    poolSize: config.database.pool_size,
    sharedConnections: config.database.shared_connections,
    slowConnections: config.database.slow_connections,
    poolWaitMs: config.database.pool_wait_ms,
    statementTimeoutMs: config.database.statement_timeout_ms,
    lockTimeoutMs: config.database.lock_timeout_ms
  }
  const db = openDatabase(options)
  const broadcast = await openBroadcast(connectionSettings(options))
  const cache = await openCache(config, log)
  const jobs = createJobs(log)
  return {
    config,
    log,
    db,
    cache,
    broadcast,
    jobs,
    close: async () => {
      await jobs.stop()
      await Promise.all([broadcast.close(), cache.close()])
      await db.close()
    }
  }
}

// The Redis client takes 25 ms to load: only those who use it wait for it.
async function openCache(config: Config, log: Log): Promise<Cache> {
  if (config.cache.url === '') return createMemoryCache(config.cache.entries_max)
  const { createRedisCache } = await import('./cache-redis.ts')
  return createRedisCache(config.cache.url, log)
}
