import type { BudgetClaim, BudgetState } from '../../kernel/shared-request-budgets.ts'
import type { Config } from '../../platform/core-settings.ts'
import type { ConnectionPoolStatistics } from '../../platform/postgres/pools.ts'
import type { WorkerMeasurements } from '../../platform/worker-link.ts'

/** What a worker calls of the primary process. */
export type PrimaryCalls = {
  /** Its first call: which worker it is. */
  introduce(body: null): WorkerIntroduction
  /** Opens the embedded database in this folder, once for all workers. Returns its URL. */
  openDatabase(body: { folder: string }): Promise<string>
  /** Adds up what the workers take of limits of requests. */
  exchangeBudgetClaims(claims: readonly BudgetClaim[]): readonly BudgetState[]
  /** It serves requests. */
  ready(body: WorkerReport): void
  /** Its event loop makes progress. */
  beat(body: { isOutOfConnections: boolean }): void
  /** It is about to end, and these are its last measurements. */
  leave(body: WorkerMeasurements): void
  exposeMetrics(body: null): Promise<string>
  poolStatistics(body: null): Promise<ConnectionPoolStatistics>
}

/** What the primary process calls of a worker. */
export type WorkerCalls = {
  /** Stops it. `isReplaced`: another process serves in its place. */
  stop(body: { isReplaced: boolean }): void
  measure(body: null): Promise<WorkerMeasurements>
}

export type WorkerIntroduction = {
  /** 1 is the first worker of the command. */
  number: number
  count: number
  /** Whether it prepares an empty shop, and writes the greeting. */
  isFirst: boolean
}

export type WorkerReport = {
  config: Config
  databaseUrl: string
  drainMs: number
  /** The greeting for the terminal. Only of the first process of a command. */
  welcome: string
}
