import { Worker } from 'node:worker_threads'
import { OperatorError } from '../../kernel/errors.ts'
import type { Config } from '../../platform/core-settings.ts'
import type { Log } from '../../platform/log.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { WorkerLink } from '../../platform/worker-link.ts'
import type { MetricsExposition } from './metrics.ts'
import type { ReplicaState } from './readiness.ts'

/** Start data of the thread. `state` is shared memory; `HEARTBEAT_INDEX`, `NOT_READY_INDEX` and `DATABASE_OUT_INDEX` are its indexes. */
export type DiagnosticsThreadData = {
  config: Config
  databaseUrl: string
  host: string
  state: BigInt64Array
}
/** What the main thread sends to the diagnostics thread for `/metrics`, `/metricsz`, and `replica` of `/readyz`. */
export type MetricsSnapshot = {
  at: string
  takenAt: number
  metrics: string
  db_pool: object
  replica: ReplicaState | undefined
}
/** Reply of the diagnostics thread to the main thread. */
export type DiagnosticsThreadReport =
  | { listening: true }
  | { listening: false; code: string | undefined; message: string }

/** Index in `state`: last heartbeat of the main thread, in nanoseconds of the monotonic clock, which all threads share. */
export const HEARTBEAT_STATE_INDEX = 0
/** Index in `state`: 1 while the process starts or stops, and is not ready. */
export const NOT_READY_STATE_INDEX = 1
/** Index in `state`: 1 while one of the connection pools has no connection. */
export const OUT_OF_CONNECTIONS_STATE_INDEX = 2
const STATES = 3

/** The entry file of the diagnostics thread: the source file, or the compiled one in the package. */
const THREAD = new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url)
const BEAT_MS = 100
const SNAPSHOT_MS = 1_000
const RESTART_PAUSE_MS = 1_000
const MEMORY_MB_MAX = 128

export type DiagnosticsHttpServer = { hold(isHeld: boolean): void; close(): Promise<void> }
type Deps = {
  config: Config
  databaseUrl: string
  log: Log
  db: Pick<Database, 'statistics' | 'isOutOfConnections'> & { replicaStatistics(): ReplicaState | undefined }
  metrics: Pick<MetricsExposition, 'expose'>
  /** When the work was last seen to progress, in nanoseconds of the monotonic clock. Default: now, by this thread. */
  progressedAt?: () => bigint
}

/** Opens the diagnostics port, if one is configured. That of several workers is opened by the primary process, which asks them. */
export async function openOwnDiagnosticsPort({
  worker,
  ...deps
}: Deps & { worker: WorkerLink | undefined; metrics: MetricsExposition }): Promise<
  DiagnosticsHttpServer | undefined
> {
  const { config, db, metrics } = deps
  worker?.measureBy({ ...db, collect: metrics.collect })
  const hasPort = worker === undefined && config.server.diagnostics_port !== 0
  return hasPort ? openDiagnosticsHttpServer(deps) : undefined
}

/**
 * Serves the four diagnostic endpoints on a separate port and thread. They respond while the main thread is blocked or
 * dead, and report it. The thread is restarted when it ends. It does not keep the process alive.
 * @throws OperatorError when the port cannot be opened.
 */
export async function openDiagnosticsHttpServer({
  config,
  databaseUrl,
  log,
  db,
  metrics,
  progressedAt = process.hrtime.bigint
}: Deps): Promise<DiagnosticsHttpServer> {
  const state = new BigInt64Array(new SharedArrayBuffer(STATES * BigInt64Array.BYTES_PER_ELEMENT))
  const beat = () => {
    Atomics.store(state, HEARTBEAT_STATE_INDEX, progressedAt())
    Atomics.store(state, OUT_OF_CONNECTIONS_STATE_INDEX, db.isOutOfConnections() ? 1n : 0n)
  }
  beat()
  const host = config.server.host || (config.environment === 'production' ? '0.0.0.0' : '127.0.0.1')
  const workerData: DiagnosticsThreadData = { config, databaseUrl, host, state }
  let thread: Worker | undefined
  let isClosed = false

  const sendSnapshot = async () => {
    const snapshot: MetricsSnapshot = {
      metrics: await metrics.expose(),
      db_pool: db.statistics(),
      replica: db.replicaStatistics(),
      at: new Date().toISOString(),
      takenAt: performance.timeOrigin + performance.now()
    }
    thread?.postMessage(snapshot)
  }
  const trySendSnapshot = () => {
    sendSnapshot().catch(error => log.error({ err: error }, 'no metrics were sent to the diagnostics port'))
  }

  const start = (): Promise<DiagnosticsThreadReport> =>
    new Promise(resolve => {
      const started = new Worker(THREAD, {
        workerData,
        resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB_MAX }
      })
      thread = started
      started.unref()
      started.once('message', resolve)
      let reason: unknown
      started.on('error', error => {
        reason = error
      })
      started.on('exit', () => {
        resolve({ listening: false, code: undefined, message: String(reason) })
        if (isClosed) return
        log.error({ err: reason }, 'the diagnostics thread ended; restarting it')
        setTimeout(() => !isClosed && start().then(trySendSnapshot), RESTART_PAUSE_MS).unref()
      })
    })

  const report = await start()
  const beating = setInterval(beat, BEAT_MS).unref()
  const sending = setInterval(trySendSnapshot, SNAPSHOT_MS).unref()
  const close = async () => {
    isClosed = true
    clearInterval(beating)
    clearInterval(sending)
    await thread?.terminate()
  }
  if (!report.listening) {
    await close()
    throw new OperatorError(
      `Cannot listen on ${host}:${config.server.diagnostics_port} for diagnostics: ${report.message}. Choose another port (server.diagnostics_port).`
    )
  }
  trySendSnapshot()
  return {
    hold: isHeld => Atomics.store(state, NOT_READY_STATE_INDEX, isHeld ? 1n : 0n),
    close
  }
}
