import type { KeyValueCache } from '../cache/cache.ts'
import type { Database } from '../postgres/database.ts'
import type { Metrics } from './registry.ts'

/** Declares the metrics of database connections and of the cache. */
export function declareInfrastructureMetrics(metrics: Metrics, db: Database, cache: KeyValueCache): void {
  const pool = metrics.prefixed('db_pool')
  const connections = (name: string, help: string, key: keyof ReturnType<Database['statistics']>) =>
    pool.gauge(name, help, () => db.statistics()[key])
  connections('max_connections', 'Most database connections that this process opens.', 'max_conns')
  connections('connections', 'Open database connections.', 'total_conns')
  connections('acquired_connections', 'Database connections in use.', 'acquired_conns')
  connections('idle_connections', 'Idle database connections.', 'idle_conns')
  pool.total('acquires', 'Connections acquired from the pool.', () => db.statistics().acquire_count)
  pool.total(
    'empty_acquires',
    'Connections that had to be waited for.',
    () => db.statistics().empty_acquire_count
  )
  pool.total(
    'acquire_seconds',
    'Total time spent waiting for a connection, in seconds.',
    () => db.statistics().acquire_duration_ms / 1_000
  )

  declareReplicaMetrics(metrics, db)

  const { adapter, redis } = cache.statistics()
  const counted = metrics.prefixed('cache')
  counted.total('hits', 'Cache hits.', () => cache.statistics().hits, { adapter })
  counted.total('misses', 'Cache misses.', () => cache.statistics().misses, { adapter })
  counted.total('errors', 'Cache operations that failed.', () => cache.statistics().errors, { adapter })
  counted.total('operations', 'Cache operations.', () => cache.statistics().operations, { adapter })
  counted.total(
    'operation_seconds',
    'Total duration of cache operations, in seconds.',
    () => cache.statistics().operation_seconds,
    {
      adapter
    }
  )
  counted.gauge('entries', 'Entries in the cache of this process.', () => cache.statistics().entries, {
    adapter: [adapter]
  })
  if (redis === null) return
  counted.shopGauge(
    'redis_up',
    '1 while Redis answers, 0 while each process caches in its own memory.',
    () => (cache.statistics().redis === 'UP' ? 1 : 0)
  )
}

function declareReplicaMetrics(metrics: Metrics, db: Database): void {
  const read = db.replicaStatistics
  if (read() === undefined) return
  const own = metrics.prefixed('db_replica')
  own.shopGauge('up', '1 while the replica is used, 0 while it cannot be, or is too old.', () =>
    read()?.problem === null ? 1 : 0
  )
  own.shopGauge(
    'lag_seconds',
    'Time that the replica is behind the primary, in seconds.',
    () => read()?.lagSeconds ?? 0
  )
  if (db.isReadOnly) return
  own.total('reads', 'Slow reads that the replica answered.', () => read()?.reads.replica ?? 0)
  own.total(
    'fallback_reads',
    'Slow reads that the primary answered, because the replica could not.',
    () => read()?.reads.primary ?? 0
  )
}
