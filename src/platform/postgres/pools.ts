import { sumBy } from '../../kernel/sum-by.ts'
import {
  type DatabaseConnectOptions,
  forceCustomPlanSettings,
  initialSessionSettings,
  keyLookupPlannerSettings,
  noSequentialScanSettings,
  pgClientConfig
} from './connect.ts'
import { lockRetryPoolSize, processConnectionsMax } from './connection-limits.ts'
import type { SuspectConnection } from './connections/dead-peer-detection.ts'
import type { DatabaseHosts } from './connections/hosts.ts'
import { ConnectionPool } from './connections/pool.ts'
import { ConnectionPoolGroup } from './connections/pool-group.ts'
import { createDatabaseProbes } from './connections/probes.ts'
import type { DatabaseSessionSettings } from './connections/session.ts'
import { PipelinedDatabaseConnections } from './pipelined/shared-connections.ts'
import { readOnlyUntilBeginSettings } from './transactions/transaction.ts'

export type DatabaseOptions = DatabaseConnectOptions & {
  /** Connections for transactions. */
  poolSize: number
  /** Pipelined connections that single statements share, when they only read. */
  sharedConnections: number
  /** Connections for single statements that write or lock, one at a time on each. */
  writeConnections: number
  /** Connections for slow statements, one at a time on each. */
  slowConnections: number
  /** How long a caller may wait for a connection, in milliseconds. */
  poolWaitMs: number
  /** The server that slow reads use while it has all commits. `onChange` gets the reason when it cannot be used, else null. */
  replica?: { url: string; hosts: DatabaseHosts; onChange?: (problem: string | null) => void } | undefined
  /** Called with the name of every statement before it is sent. For tests that count them. */
  onStatement?: ((name: string) => void) | undefined
}
/** Statistics of the connections of this process, as `/metricsz` shows them. Durations in milliseconds. */
export type ConnectionPoolStatistics = {
  max_conns: number
  total_conns: number
  acquired_conns: number
  idle_conns: number
  acquire_count: number
  empty_acquire_count: number
  acquire_duration_ms: number
}
export type ConnectionPools = ReturnType<typeof openConnectionPools>

const SHARED_STATEMENT_MS_MAX = 1_000
const SHARED_LOCK_MS_MAX = 50
/** Statement timeout of slow reads: clients do not wait longer for a search. */
const SLOW_STATEMENT_MS_MAX = 2_000
/** Statement timeout of slow reads on a replica: shorter, because the primary executes them afterwards. */
const REPLICA_STATEMENT_MS_MAX = 1_000
/** A connection without response counts as dead this long after the server's statement timeout. */
const SILENCE_MS = 200
/** Factor of the lock timeout when a transaction is retried after a lock timeout. */
const PATIENCE = 4

/** Statement timeouts of the shared connections and of slow reads, in milliseconds. */
export const sharedAndSlowStatementTimeouts = ({
  statementTimeoutMs
}: Pick<DatabaseOptions, 'statementTimeoutMs'>) => ({
  sharedMs: Math.min(statementTimeoutMs, SHARED_STATEMENT_MS_MAX),
  slowMs: Math.min(statementTimeoutMs, SLOW_STATEMENT_MS_MAX),
  replicaMs: Math.min(statementTimeoutMs, REPLICA_STATEMENT_MS_MAX)
})

/** Opens the pools of this process, one for each kind of work. */
export function openConnectionPools(options: DatabaseOptions, onSilence: () => void) {
  const { poolWaitMs: waitMs, statementTimeoutMs, lockTimeoutMs } = options
  const { sharedMs, slowMs } = sharedAndSlowStatementTimeouts(options)
  const group = new ConnectionPoolGroup()
  const open = (
    limits: {
      max: number
      waitMs: number
      patienceMs?: number
      statementTimeoutMs?: number
      lockTimeoutMs?: number
    },
    more: DatabaseSessionSettings
  ) => {
    const connect = { ...options, ...limits }
    const session = initialSessionSettings(connect, more)
    return new ConnectionPool(pgClientConfig(connect, more), { ...limits, session, group, canLend: true })
  }
  const patienceMs = lockTimeoutMs + SILENCE_MS
  const forTransactions = { ...readOnlyUntilBeginSettings, ...noSequentialScanSettings }
  const transactions = open({ max: options.poolSize, waitMs, patienceMs }, forTransactions)
  const patient = open(
    {
      max: lockRetryPoolSize(options.poolSize),
      waitMs: statementTimeoutMs,
      lockTimeoutMs: lockTimeoutMs * PATIENCE
    },
    forTransactions
  )
  const writes = open({ max: options.writeConnections, waitMs, patienceMs }, noSequentialScanSettings)
  const slow = open(
    { max: options.slowConnections, waitMs, statementTimeoutMs: slowMs },
    forceCustomPlanSettings
  )
  const replica = options.replica && openReplicaPool({ ...options, ...options.replica })
  const probes = createDatabaseProbes(probeWaitMs => open({ max: 1, waitMs: probeWaitMs }, {}))
  const forReads = {
    ...options,
    statementTimeoutMs: sharedMs,
    lockTimeoutMs: Math.min(lockTimeoutMs, SHARED_LOCK_MS_MAX)
  }
  const shared = new PipelinedDatabaseConnections(pgClientConfig(forReads, keyLookupPlannerSettings), {
    count: options.sharedConnections,
    waitMs,
    silenceMsMax: sharedMs + SILENCE_MS,
    onSilence,
    session: initialSessionSettings(forReads, keyLookupPlannerSettings),
    group
  })
  const forWork = [transactions, patient, writes, slow]
  const dedicated = new Set<ConnectionPool>()
  const acquired = { count: 0, empty: 0, durationMs: 0 }

  return {
    transactions,
    patient,
    writes,
    slow,
    replica,
    shared,
    probes,
    group,
    /** Pools of dedicated connections. */
    dedicated,
    acquired,
    /** Whether one pool has no connection because the server accepts no more. */
    isOut: () =>
      shared.isOutOfConnections || [...forWork, ...dedicated].some(each => each.isOutOfConnections),
    suspects: (): SuspectConnection[] =>
      [...forWork, ...dedicated, ...probes.pools, shared].flatMap(each => each.suspects),
    /** Replaces the connections of all pools, such as when their prepared statements no longer match the schema. */
    renew: () => {
      for (const each of [...forWork, ...dedicated, shared]) each.replaceConnections()
    },
    statistics: (): ConnectionPoolStatistics => {
      const pools = [...forWork, ...dedicated, ...probes.pools, ...(replica ? [replica] : [])]
      const taken = sumBy(pools, each => each.busy) + shared.busy
      const total = sumBy(pools, each => each.total) + shared.total
      return {
        max_conns: processConnectionsMax(options, false),
        total_conns: total,
        acquired_conns: taken,
        idle_conns: total - taken,
        acquire_count: acquired.count,
        empty_acquire_count: acquired.empty,
        acquire_duration_ms: acquired.durationMs + shared.waitedMs
      }
    },
    close: async () => {
      await Promise.all(
        [...forWork, ...dedicated, ...probes.pools, shared, replica].map(each => each?.close())
      )
    }
  }
}

/** Opens the pool for slow reads of a replica. Its connections lead to another server, so it shares none with other pools. */
function openReplicaPool(options: DatabaseOptions): ConnectionPool {
  const { replicaMs: statementTimeoutMs } = sharedAndSlowStatementTimeouts(options)
  const connect = { ...options, statementTimeoutMs }
  return new ConnectionPool(pgClientConfig(connect, forceCustomPlanSettings), {
    max: options.slowConnections,
    waitMs: options.poolWaitMs,
    session: initialSessionSettings(connect, forceCustomPlanSettings),
    group: new ConnectionPoolGroup(),
    canLend: false
  })
}
