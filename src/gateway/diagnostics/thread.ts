import type { IncomingMessage, ServerResponse } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'
import { openLog } from '../../platform/log.ts'
import { createServer } from '../../platform/node-http.ts'
import { databaseOptionsFromConfig, openKeyValueCache } from '../../platform/platform.ts'
import { openDatabase } from '../../platform/postgres/database.ts'
import { METRICS_CONTENT_TYPE } from './metrics.ts'
import {
  type DiagnosticsThreadData,
  type DiagnosticsThreadReport,
  HEARTBEAT_STATE_INDEX,
  type MetricsSnapshot,
  NOT_READY_STATE_INDEX,
  OUT_OF_CONNECTIONS_STATE_INDEX
} from './port.ts'
import { createReadinessCheck, type Readiness } from './readiness.ts'

// Entry point of the thread that serves `server.diagnostics_port`.

const { config, databaseUrl, host, state } = workerData as DiagnosticsThreadData
const BLOCKED_MS = 1_000
const READY = { name: 'cartwright_ready', help: '1 while /readyz returns 200, otherwise 0.' }
const WRITES = {
  name: 'cartwright_db_writes_up',
  help: '1 while a test write to the database succeeds, otherwise 0.'
}
const AGE = { name: 'cartwright_diagnostics_snapshot_age_seconds', help: 'Age of these metrics, in seconds.' }
const BACKLOG = 1_024
const TIMEOUT_MS = 5_000
const NANOSECONDS = 1_000_000n

const db = openDatabase(databaseOptionsFromConfig(config, databaseUrl))
const cache = await openKeyValueCache(config, openLog({ level: 'silent' }))
const isHeld = () => Atomics.load(state, NOT_READY_STATE_INDEX) === 1n
const isOut = () => Atomics.load(state, OUT_OF_CONNECTIONS_STATE_INDEX) === 1n
let snapshot: MetricsSnapshot | undefined
const replicaStatistics = () => snapshot?.replica
const readiness = createReadinessCheck({
  db: { ...db, isOutOfConnections: isOut, replicaStatistics },
  cache,
  isHeld
})
parentPort?.on('message', (latest: MetricsSnapshot) => {
  snapshot = latest
})

type DiagnosticResponse = { status: number; contentType?: string; body: string | object }
const now = () => new Date().toISOString()
/** Time since the last heartbeat of the main thread. */
const silentMs = () =>
  Number((process.hrtime.bigint() - Atomics.load(state, HEARTBEAT_STATE_INDEX)) / NANOSECONDS)
const isDead = () => silentMs() >= config.server.liveness_seconds * 1_000
const ageSeconds = ({ takenAt }: MetricsSnapshot) =>
  Math.max(0, performance.timeOrigin + performance.now() - takenAt) / 1_000
const noSnapshot: DiagnosticResponse = {
  status: 503,
  body: { error: 'No metrics have been collected yet. Try again in a second.' }
}

async function readReadiness(): Promise<Readiness> {
  const read = await readiness()
  return read.isReady && isDead() ? { isReady: false, body: { ...read.body, status: 'NOT_READY' } } : read
}

const formatGauge = ({ name, help }: { name: string; help: string }, value: number) =>
  `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name} ${value}\n`

const pages: Record<string, () => DiagnosticResponse | Promise<DiagnosticResponse>> = {
  '/healthz': () => {
    const main = silentMs() >= BLOCKED_MS ? 'blocked' : 'running'
    if (isDead()) return { status: 503, body: { status: 'DOWN', main, time: now() } }
    return { status: 200, body: { status: 'UP', main, time: now() } }
  },
  '/readyz': async () => {
    const { isReady, body } = await readReadiness()
    return { status: isReady ? 200 : 503, body }
  },
  '/metrics': async () => {
    const { isReady, body } = await readReadiness()
    if (snapshot === undefined) return noSnapshot
    const own = [
      formatGauge(READY, isReady ? 1 : 0),
      // A process that only reads has no writes that could fail.
      db.isReadOnly ? '' : formatGauge(WRITES, body.writes === 'UP' ? 1 : 0),
      formatGauge(AGE, ageSeconds(snapshot))
    ]
    return { status: 200, contentType: METRICS_CONTENT_TYPE, body: snapshot.metrics + own.join('') }
  },
  '/metricsz': () => {
    if (snapshot === undefined) return noSnapshot
    const { at, db_pool } = snapshot
    return { status: 200, body: { time: at, db_pool, snapshot_age_seconds: ageSeconds(snapshot) } }
  }
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [path = ''] = (request.url ?? '').split('?')
  const page = request.method === 'GET' || request.method === 'HEAD' ? pages[path] : undefined
  const { status, contentType, body } = (await page?.()) ?? {
    status: 404,
    body: { error: 'Not found. This port serves /healthz, /readyz, /metrics and /metricsz.' }
  }
  response.writeHead(status, {
    'content-type': contentType ?? 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff'
  })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}

const report = (message: DiagnosticsThreadReport) => parentPort?.postMessage(message)
const server = createServer((request, response) => {
  answer(request, response).catch(() => response.destroy())
})
server.headersTimeout = TIMEOUT_MS
server.requestTimeout = TIMEOUT_MS
server.on('error', ({ code, message }: NodeJS.ErrnoException) => report({ listening: false, code, message }))
server.listen({ host, port: config.server.diagnostics_port, backlog: BACKLOG }, () =>
  report({ listening: true })
)
