import { DomainError } from '../kernel/errors.ts'
import { keptForDays } from '../kernel/retention.ts'
import { settleAllOrThrow } from '../kernel/settle-all-or-throw.ts'
import {
  createSharedBudgets,
  type OpenRequestBudget,
  openLocalBudget
} from '../kernel/shared-request-budgets.ts'
import { type AuditTrail, createAuditTrail } from './audit.ts'
import { type Broadcast, openBroadcast } from './broadcast.ts'
import { createMemoryCache, type KeyValueCache } from './cache/cache.ts'
import type { Config } from './core-settings.ts'
import { createEventLog, type RunningEventLog } from './event-log/event-log.ts'
import { createHttpClient, type HttpClient } from './http/client.ts'
import type { Log } from './log.ts'
import { RequestDurationHistogram } from './metrics/durations.ts'
import { declareInfrastructureMetrics } from './metrics/infrastructure.ts'
import { createMetricRegistry, type MetricRegistry } from './metrics/registry.ts'
import { describeOpenFilesShortage, OPEN_FILES_ADVICE } from './open-files.ts'
import { createOutbox, type Outbox } from './outbox/outbox.ts'
import { createPartitionMaintenance, type Partitions } from './partitions/partitions.ts'
import { pgClientConfig } from './postgres/connect.ts'
import {
  describeConnectionShortage,
  findConnectionLimits,
  primaryConnectionsMax,
  processConnectionsMax
} from './postgres/connection-limits.ts'
import { DatabaseHosts } from './postgres/connections/hosts.ts'
import { type Database, type DatabaseOptions, openDatabase } from './postgres/database.ts'
import { watchStandby } from './postgres/replica/standby.ts'
import { proveOwnSessions } from './postgres/session-proof.ts'
import { loadSecrets } from './secrets/open.ts'
import type { Secrets } from './secrets/secrets.ts'
import { createTimers, type Timers } from './timers.ts'
import type { Tracer } from './tracing/tracer.ts'
import type { MeasurableWorker, WorkerLink } from './worker-link.ts'

/** A pooler may stop delivering messages at any time, such as when its mode is changed. */
const PROOF_SECONDS = 10

/**
 * Connections to the outside world, opened once and passed to `setup` of each module.
 * @example
 * const nameOf = ({ config }: Pick<Platform, 'config'>): string => config.shop.name
 */
export type Platform = {
  config: Config
  log: Log
  secrets: Secrets
  databaseUrl: string
  db: Database
  cache: KeyValueCache
  broadcast: Broadcast
  timers: Timers
  /** Outgoing HTTP: all requests to other servers use it. */
  http: HttpClient
  metrics: MetricRegistry
  /** Durations of the requests that this process has answered. */
  durations: RequestDurationHistogram
  outbox: Outbox
  eventLog: RunningEventLog
  partitions: Partitions
  audit: AuditTrail
  /** Opens a limit of requests, which all workers of the command share. */
  openBudget: OpenRequestBudget
  /** The connection with the other workers of the command; `undefined` for a single process. */
  worker: WorkerLink | undefined
  /** Records traces; `undefined` without `tracing.url`. */
  tracer: Tracer | undefined
  /** Sends the metrics that `collect` returns to the collector; `undefined` without `tracing.metrics_seconds`. */
  exportMetrics: ((collect: MeasurableWorker['collect']) => void) | undefined
  close(): Promise<void>
}

type PlatformOptions = Pick<DatabaseOptions, 'onStatement'> & {
  serves?: boolean
  /** The worker that this process is, if it is one of several. */
  worker?: WorkerLink | undefined
}

/**
 * Connects to the migrated database at `databaseUrl` and to the cache. A process that serves requests opens its read
 * connections ahead of them. @throws OperatorError when the database cannot be reached.
 */
export async function openPlatform(
  config: Config,
  databaseUrl: string,
  log: Log,
  { onStatement, serves = false, worker }: PlatformOptions = {}
): Promise<Platform> {
  const secrets = loadSecrets(config)
  const metrics = createMetricRegistry()
  const ownHttp = createHttpClient({ privateHosts: config.http.private_hosts })
  const tracing = await openConfiguredTracing(config, { log, metrics, http: ownHttp })
  const noteStatement = (name: string) => {
    tracing?.noteStatement(name)
    onStatement?.(name)
  }
  const { url, listen_url: listenUrl, read_only: isReadOnly } = config.database
  const options = {
    ...databaseOptionsFromConfig(config, databaseUrl),
    onStatement: tracing === undefined ? onStatement : noteStatement,
    replica: serves ? replicaOf(config, log) : undefined
  }
  const opened = openDatabase(options)
  const standby = isReadOnly && serves ? watchStandby(opened, reportStandby(log)) : undefined
  const watched = standby === undefined ? opened : { ...opened, replicaStatistics: standby.statistics }
  const db = tracing?.traceDatabase(watched) ?? watched
  if (serves) db.prepare()
  const listenOptions = listenUrl === '' ? options : { ...options, ...hostsOf(listenUrl) }
  const listenConfig = pgClientConfig(listenOptions)
  const broadcast = await openBroadcast(listenConfig, db.closeDeadConnections, { listens: !isReadOnly })
  // The embedded database has no pooler.
  if (url !== '')
    await settleAllOrThrow([
      proveOwnSessions(pgClientConfig(options)),
      isReadOnly ? undefined : broadcast.prove(db)
    ]).catch(async error => {
      await Promise.all([broadcast.close(), db.close()])
      throw error
    })
  const cache = await openKeyValueCache(config, log)
  const timers = createTimers(log, isReadOnly)
  if (url !== '' && !isReadOnly)
    timers.every(PROOF_SECONDS, 'prove that messages arrive', async () => {
      await broadcast.prove(db).catch(throwUnlessUnavailable)
      return 0
    })
  declareInfrastructureMetrics(metrics, db, cache)
  const partitions = createPartitionMaintenance({ db, log, timers })
  const { retention_days: auditDays } = config.audit
  partitions.keep({ table: 'cartwright.audit', period: 'month', keptSince: keptForDays(auditDays) })
  const eventLog = createEventLog({ db, log, metrics, partitions, timers, settings: config.events })
  const stored = tracing?.openStoredTraces(opened, timers)
  const ownOutbox = createOutbox({ db, log, metrics, eventLog, traces: stored?.traces })
  const outbox = stored?.traceOutbox(ownOutbox) ?? ownOutbox
  if (serves) {
    checkConnections({ config, db, log, worker }).catch(() => {})
    const shortage = describeOpenFilesShortage(socketsMaxByUse(config))
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
    timers,
    http: stored?.traceHttpClient(ownHttp) ?? ownHttp,
    metrics,
    durations: new RequestDurationHistogram(),
    outbox,
    eventLog: stored?.traceEventLog(eventLog) ?? eventLog,
    partitions,
    audit: createAuditTrail(db),
    openBudget: budgetsOf(cache, worker),
    worker,
    tracer: tracing?.tracer,
    exportMetrics: tracing?.exportMetrics,
    close: async () => {
      standby?.close()
      await outbox.stop()
      await Promise.all([timers.stop(), partitions.stop()])
      await Promise.all([broadcast.close(), cache.close(), tracing?.stop()])
      await db.close()
    }
  }
}

/** Limits are shared by Redis, or else by the workers of one command. While Redis does not answer, by the workers as well. */
function budgetsOf(cache: KeyValueCache, worker: WorkerLink | undefined): OpenRequestBudget {
  const { exchangeBudgetClaims: byRedis } = cache
  const byWorkers = worker?.exchangeBudgetClaims
  if (byRedis === undefined) return byWorkers === undefined ? openLocalBudget : createSharedBudgets(byWorkers)
  if (byWorkers === undefined) return createSharedBudgets(byRedis)
  return createSharedBudgets(claims => byRedis(claims).catch(() => byWorkers(claims)))
}

const hostsOf = (url: string) => ({ url, hosts: new DatabaseHosts(url) })

/** While the database is unavailable, nothing is proven either way. */
const throwUnlessUnavailable = (error: unknown) => {
  if (!(error instanceof DomainError && error.kind === 'unavailable')) throw error
}

/** The hosts of `database.url`, or of the embedded database. */
export const databaseHostsOf = ({ database }: Pick<Config, 'database'>, url: string): DatabaseHosts =>
  new DatabaseHosts(url, database.read_only ? 'one replica' : 'primary')

/** Database options of this process, or of one of its threads. */
export const databaseOptionsFromConfig = ({ database }: Config, url: string): DatabaseOptions => ({
  url,
  hosts: databaseHostsOf({ database }, url),
  isReadOnly: database.read_only,
  poolSize: database.pool_size,
  sharedConnections: database.shared_connections,
  writeConnections: database.write_connections,
  slowConnections: database.slow_connections,
  poolWaitMs: database.pool_wait_ms,
  statementTimeoutMs: database.statement_timeout_ms,
  lockTimeoutMs: database.lock_timeout_ms
})

/** The replica of these settings, if there is one. `log`: where its failures are reported. */
export function replicaOf({ database: { replica_url: url } }: Config, log?: Log): DatabaseOptions['replica'] {
  if (url === '') return undefined
  const onChange = (problem: string | null) =>
    problem === null
      ? log?.info('Slow reads use the replica (database.replica_url).')
      : log?.warn(
          `Slow reads use the primary, because the replica (database.replica_url) cannot be used: ${problem}.`
        )
  return { url, hosts: new DatabaseHosts(url, 'replicas'), onChange }
}

const reportStandby = (log: Log) => (problem: string | null) =>
  problem === null
    ? log.info('The standby (database.url) is current.')
    : log.warn(`The standby (database.url) may show old pages: ${problem}.`)

/** Most database connections of this process, to the primary and the replica. */
export const databaseConnectionsMax = (config: Config): number =>
  processConnectionsMax(
    { ...databaseOptionsFromConfig(config, ''), replica: replicaOf(config) },
    config.server.diagnostics_port !== 0
  )

/** Most connections of this process to the primary. */
export const primaryDatabaseConnectionsMax = (config: Config): number =>
  primaryConnectionsMax(databaseOptionsFromConfig(config, ''), config.server.diagnostics_port !== 0)

/** Most sockets of this process. */
export const socketsMaxByUse = (config: Config) => ({
  clients: config.server.connections_max,
  database: databaseConnectionsMax(config)
})

export const CONNECTIONS_ADVICE =
  'Raise the limit, or lower database.pool_size, database.write_connections and database.slow_connections.'

/** Warns when the database accepts fewer connections than this process, or all workers of its command, may open. */
async function checkConnections({
  config,
  db,
  log,
  worker
}: Pick<Platform, 'config' | 'db' | 'log' | 'worker'>): Promise<void> {
  // One of the workers speaks for all.
  if (worker !== undefined && worker.number > 1) return
  const [limits] = await db.rows(findConnectionLimits)
  const max = primaryDatabaseConnectionsMax(config)
  if (config.environment === 'production')
    log.info(`Each process opens up to ${max} database connections; the server accepts ${limits?.server}.`)
  const shortage = limits && describeConnectionShortage(max, limits, worker?.count)
  if (shortage !== undefined)
    log.warn(
      `${shortage} ${CONNECTIONS_ADVICE} Until then different kinds of work share connections, and are slower.`
    )
}

// Loaded on demand, because most shops have no traces.
async function openConfiguredTracing(config: Config, deps: Pick<Platform, 'log' | 'metrics' | 'http'>) {
  if (config.tracing.url === '') return undefined
  const { openTracing } = await import('./tracing/open.ts')
  return openTracing({ config, ...deps })
}

// Loaded on demand, because the Redis client takes 25 ms to load.
export async function openKeyValueCache(config: Config, log: Log): Promise<KeyValueCache> {
  const { url } = config.cache
  if (url === '') return createMemoryCache(config.cache.entries_max)
  const { createRedisCache } = await import('./cache/redis.ts')
  return createRedisCache(url, log, config.cache.entries_max)
}
