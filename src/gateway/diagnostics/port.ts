import { Worker } from 'node:worker_threads'
import type { Config } from '../../config.ts'
import { OperatorError } from '../../kernel/errors.ts'
import type { Log } from '../../platform/log.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { Metrics } from './metrics.ts'

/** What the thread is started with. `state` is shared memory: see `BEAT_AT` and `DRAINING`. */
export type ThreadData = { config: Config; databaseUrl: string; host: string; state: BigInt64Array }
/** What this thread sends to the other one, for `/metrics` and `/metricsz`. */
export type Snapshot = { at: string; takenAt: number; contentType: string; metrics: string; db_pool: object }
/** What the other one sends back. */
export type ThreadReport =
  | { listening: true }
  | { listening: false; code: string | undefined; message: string }

/** In `state`: when this thread was last seen working, in nanoseconds of the monotonic clock, which all threads share. */
export const BEAT_AT = 0
/** In `state`: 1 while the process starts or stops, and is not ready. */
export const HELD = 1
/** In `state`: 1 while some kind of work has no database connection. */
export const DATABASE_OUT = 2
const STATES = 3

/** Which of the two this program runs from: its source, or what the package has of it. */
const THREAD = new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url)
const BEAT_MS = 100
const SNAPSHOT_MS = 1_000
const RESTART_PAUSE_MS = 1_000
const MEMORY_MB_MAX = 128

export type DiagnosticsPort = { hold(isHeld: boolean): void; close(): Promise<void> }
type Deps = {
  config: Config
  databaseUrl: string
  log: Log
  db: Pick<Database, 'statistics' | 'isOut'>
  metrics: Pick<Metrics, 'expose' | 'contentType'>
}

/**
 * The four diagnostic endpoints once more, on a port of their own and by a thread of its own: they answer while this
 * thread is busy, or dead, and say so. When the other thread ends it is started again; it keeps no process alive.
 * @throws OperatorError when the port cannot be had.
 */
export async function openDiagnosticsPort({
  config,
  databaseUrl,
  log,
  db,
  metrics
}: Deps): Promise<DiagnosticsPort> {
  const state = new BigInt64Array(new SharedArrayBuffer(STATES * BigInt64Array.BYTES_PER_ELEMENT))
  const beat = () => {
    Atomics.store(state, BEAT_AT, process.hrtime.bigint())
    Atomics.store(state, DATABASE_OUT, db.isOut() ? 1n : 0n)
  }
  beat()
  const host = config.server.host || (config.environment === 'production' ? '0.0.0.0' : '127.0.0.1')
  const workerData: ThreadData = { config, databaseUrl, host, state }
  let thread: Worker | undefined
  let isClosed = false

  const tellFigures = async () => {
    const snapshot: Snapshot = {
      metrics: await metrics.expose(),
      contentType: metrics.contentType,
      db_pool: db.statistics(),
      at: new Date().toISOString(),
      takenAt: performance.timeOrigin + performance.now()
    }
    thread?.postMessage(snapshot)
  }
  const tell = () => {
    tellFigures().catch(error => log.error({ err: error }, 'no figures for the diagnostics port'))
  }

  const start = (): Promise<ThreadReport> =>
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
        log.error({ err: reason }, 'the diagnostics thread ended; it is started again')
        setTimeout(() => !isClosed && start().then(tell), RESTART_PAUSE_MS).unref()
      })
    })

  const report = await start()
  const beating = setInterval(beat, BEAT_MS).unref()
  const telling = setInterval(tell, SNAPSHOT_MS).unref()
  const close = async () => {
    isClosed = true
    clearInterval(beating)
    clearInterval(telling)
    await thread?.terminate()
  }
  if (!report.listening) {
    await close()
    throw new OperatorError(
      `Cannot listen on ${host}:${config.server.diagnostics_port} for diagnostics: ${report.message}. Choose another port (server.diagnostics_port).`
    )
  }
  tell()
  return {
    hold: isHeld => Atomics.store(state, HELD, isHeld ? 1n : 0n),
    close
  }
}
