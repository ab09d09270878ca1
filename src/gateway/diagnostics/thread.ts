import type { IncomingMessage, ServerResponse } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'
import { openLog } from '../../platform/log.ts'
import { createServer } from '../../platform/node-http.ts'
import { databaseOptionsOf, openCache } from '../../platform/platform.ts'
import { openDatabase } from '../../platform/postgres/database.ts'
import { BEAT_AT, DATABASE_OUT, HELD, type Snapshot, type ThreadData, type ThreadReport } from './port.ts'
import { createReadiness } from './readiness.ts'

// The program of the thread that serves `server.diagnostics_port`.

const { config, databaseUrl, host, state } = workerData as ThreadData
const BLOCKED_MS = 1_000
const AGE = 'cartwright_diagnostics_snapshot_age_seconds'
const BACKLOG = 1_024
const PATIENCE_MS = 5_000
const NANOSECONDS = 1_000_000n

const db = openDatabase(databaseOptionsOf(config, databaseUrl))
const cache = await openCache(config, openLog({ level: 'silent' }))
const isHeld = () => Atomics.load(state, HELD) === 1n
const isOut = () => Atomics.load(state, DATABASE_OUT) === 1n
const readiness = createReadiness({ db: { ...db, isOut }, cache, isHeld })
let snapshot: Snapshot | undefined
parentPort?.on('message', (latest: Snapshot) => {
  snapshot = latest
})

type Answer = { status: number; contentType?: string; body: string | object }
const now = () => new Date().toISOString()
/** For how long the main thread has not been seen working. */
const silentMs = () => Number((process.hrtime.bigint() - Atomics.load(state, BEAT_AT)) / NANOSECONDS)
const isDead = () => silentMs() >= config.server.liveness_seconds * 1_000
const ageSeconds = ({ takenAt }: Snapshot) =>
  Math.max(0, performance.timeOrigin + performance.now() - takenAt) / 1_000
const nothingYet: Answer = { status: 503, body: { error: 'There are no figures yet.' } }

const pages: Record<string, () => Answer | Promise<Answer>> = {
  '/healthz': () => {
    const main = silentMs() >= BLOCKED_MS ? 'blocked' : 'running'
    if (isDead()) return { status: 503, body: { status: 'DOWN', main, time: now() } }
    return { status: 200, body: { status: 'UP', main, time: now() } }
  },
  '/readyz': async () => {
    const { isReady, body } = await readiness()
    if (isReady && isDead()) return { status: 503, body: { ...body, status: 'NOT_READY' } }
    return { status: isReady ? 200 : 503, body }
  },
  '/metrics': () => {
    if (snapshot === undefined) return nothingYet
    const age = `# HELP ${AGE} How old these figures are.\n# TYPE ${AGE} gauge\n${AGE} ${ageSeconds(snapshot)}\n`
    return { status: 200, contentType: snapshot.contentType, body: `${snapshot.metrics}${age}` }
  },
  '/metricsz': () => {
    if (snapshot === undefined) return nothingYet
    const { at, db_pool } = snapshot
    return { status: 200, body: { time: at, db_pool, snapshot_age_seconds: ageSeconds(snapshot) } }
  }
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [path = ''] = (request.url ?? '').split('?')
  const page = request.method === 'GET' || request.method === 'HEAD' ? pages[path] : undefined
  const { status, contentType, body } = (await page?.()) ?? {
    status: 404,
    body: { error: 'There are /healthz, /readyz, /metrics and /metricsz here.' }
  }
  response.writeHead(status, {
    'content-type': contentType ?? 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff'
  })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}

const report = (message: ThreadReport) => parentPort?.postMessage(message)
const server = createServer((request, response) => {
  answer(request, response).catch(() => response.destroy())
})
server.headersTimeout = PATIENCE_MS
server.requestTimeout = PATIENCE_MS
server.on('error', ({ code, message }: NodeJS.ErrnoException) => report({ listening: false, code, message }))
server.listen({ host, port: config.server.diagnostics_port, backlog: BACKLOG }, () =>
  report({ listening: true })
)
