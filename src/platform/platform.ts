import type { Config } from '../config.ts'
import { type AuditTrail, createAuditTrail } from './audit.ts'
import { type Broadcast, openBroadcast } from './broadcast.ts'
import { type Cache, createMemoryCache } from './cache/cache.ts'
import { type Chores, createChores } from './chores.ts'
import { createHttpClient, type HttpClient } from './http/client.ts'
import type { Log } from './log.ts'
import { Durations } from './metrics/durations.ts'
import { declareFigures } from './metrics/figures.ts'
import { createMetricRegistry, type MetricRegistry } from './metrics/registry.ts'
import { OPEN_FILES_ADVICE, openFilesShortage } from './open-files.ts'
import { createOutbox, type Outbox } from './outbox/outbox.ts'
import { connectionSettings } from './postgres/connect.ts'
import { connectionShortage, connectionsMax, findConnectionLimits } from './postgres/connection-limits.ts'
import { type Database, type DatabaseOptions, openDatabase } from './postgres/database.ts'
import { openSecrets } from './secrets/open.ts'
import type { Secrets } from './secrets/secrets.ts'

/** The outside world, opened once and handed to every module's `setup`, which takes from it what it needs. */
export type Platform = {
  config: Config
  log: Log
  secrets: Secrets
  databaseUrl: string
  db: Database
  cache: Cache
  broadcast: Broadcast
  chores: Chores
  /** Requests to others: whatever leaves the shop for the Internet goes by it. */
  http: HttpClient
  metrics: MetricRegistry
  /** Of the requests that this process has answered. */
  durations: Durations
  outbox: Outbox
  audit: AuditTrail
  close(): Promise<void>
}

/**
 * Connects to the (migrated) database at `databaseUrl` and to the cache; one that is to serve requests has the connections
 * made for them. @throws OperatorError when it cannot.
 */
export async function openPlatform(
  config: Config,
  databaseUrl: string,
  log: Log,
  { onStatement, serves = false }: Pick<DatabaseOptions, 'onStatement'> & { serves?: boolean } = {}
): Promise<Platform> {
  const secrets = openSecrets(config)
  const options = { ...databaseOptionsOf(config, databaseUrl), onStatement }
  const db = openDatabase(options)
  if (serves) db.prepare()
  const broadcast = await openBroadcast(connectionSettings(options), db.endSilentConnections)
  const cache = await openCache(config, log)
  const chores = createChores(log)
  const metrics = createMetricRegistry()
  declareFigures(metrics, db, cache)
  const outbox = createOutbox({ db, log, metrics })
  if (serves) {
    checkConnections({ config, db, log }).catch(() => {})
    const shortage = openFilesShortage(openFilesOf(config))
    if (shortage !== undefined) log.warn(`${shortage} ${OPEN_FILES_ADVICE}`)
  }
  return {
    config,
    log,
    secrets,
    databaseUrl,
    db,
    cache,
    broadcast,
    chores,
    http: createHttpClient({ privateHosts: config.http.private_hosts }),
    metrics,
    durations: new Durations(),
    outbox,
    audit: createAuditTrail(db),
    close: async () => {
      await outbox.stop()
      await chores.stop()
      await Promise.all([broadcast.close(), cache.close()])
      await db.close()
    }
  }
}

/** How this process, or a thread of it, uses its database. */
export const databaseOptionsOf = ({ database }: Config, url: string): DatabaseOptions => ({
  url,
  poolSize: database.pool_size,
  sharedConnections: database.shared_connections,
  writeConnections: database.write_connections,
  slowConnections: database.slow_connections,
  poolWaitMs: database.pool_wait_ms,
  statementTimeoutMs: database.statement_timeout_ms,
  lockTimeoutMs: database.lock_timeout_ms
})

/** How many database connections this process opens at most. */
export const connectionsMaxOf = (config: Config): number =>
  connectionsMax(databaseOptionsOf(config, ''), config.server.diagnostics_port !== 0)

/** Sockets that this process opens at most. */
export const openFilesOf = (config: Config) => ({
  clients: config.server.connections_max,
  database: connectionsMaxOf(config)
})

export const CONNECTIONS_ADVICE =
  'Raise the limit, or lower database.pool_size, database.write_connections and database.slow_connections.'

/** Warns when the database accepts fewer connections than this process may open. */
async function checkConnections({ config, db, log }: Pick<Platform, 'config' | 'db' | 'log'>): Promise<void> {
  const [limits] = await db.rows(findConnectionLimits)
  const shortage = limits && connectionShortage(connectionsMaxOf(config), limits)
  if (shortage !== undefined)
    log.warn(
      `${shortage} ${CONNECTIONS_ADVICE} Until then different kinds of work share connections, and are slower.`
    )
}

// The Redis client takes 25 ms to load: only those who use it wait for it.
export async function openCache(config: Config, log: Log): Promise<Cache> {
  const { url } = config.cache
  if (url === '') return createMemoryCache(config.cache.entries_max)
  const { createRedisCache } = await import('./cache/redis.ts')
  return createRedisCache(url, log, config.cache.entries_max)
}
