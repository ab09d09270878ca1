import type { ExchangeBudgetClaims } from '../kernel/shared-request-budgets.ts'
import type { ConnectionPoolStatistics } from './postgres/pools.ts'
import type { ReplicaStatistics } from './postgres/replica/replica.ts'

/** A metric with its values, as the library of metrics reads and writes it. */
export type CollectedMetric = {
  name: string
  help: string
  type: string
  aggregator?: string
  values: readonly unknown[]
}
/** The measurements of one process. */
export type WorkerMeasurements = {
  metrics: readonly CollectedMetric[]
  pool: ConnectionPoolStatistics
  replica?: Pick<ReplicaStatistics, 'problem'> | undefined
}

/** The connection of a worker with the primary process of its command. */
export type WorkerLink = {
  /** 1 is the first worker. */
  readonly number: number
  /** Number of workers of the command. */
  readonly count: number
  exchangeBudgetClaims: ExchangeBudgetClaims
  /** Returns the metrics of all workers as text. */
  exposeMetrics(): Promise<string>
  /** Returns the sums of all workers. */
  poolStatistics(): Promise<ConnectionPoolStatistics>
  /** Sets how the primary process gets the measurements of this worker. */
  measureBy(measurable: MeasurableWorker): void
}
export type MeasurableWorker = {
  collect(): Promise<CollectedMetric[]>
  statistics(): ConnectionPoolStatistics
  isOutOfConnections(): boolean
  replicaStatistics(): Pick<ReplicaStatistics, 'problem'> | undefined
}
