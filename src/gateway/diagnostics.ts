import type { FastifyInstance } from 'fastify'
import { singleFlight } from '../kernel/single-flight.ts'
import type { Cache } from '../platform/cache.ts'
import type { Database } from '../platform/postgres.ts'
import type { Metrics } from './metrics.ts'

const PING_TIMEOUT_MS = 3_000

type Checked = 'UP' | 'DOWN'
export type DiagnosticsDeps = { db: Database; cache: Cache; metrics: Metrics; isDraining: () => boolean }

/**
 * The four endpoints that always answer: outside `/api`, before authentication, limits and admission
 * (specification, "Diagnostic endpoints").
 */
export function mountDiagnostics(
  app: FastifyInstance,
  { db, cache, metrics, isDraining }: DiagnosticsDeps
): void {
  const options = { schema: { hide: true }, logLevel: 'warn' as const }

  app.get('/healthz', options, () => ({ status: 'UP', time: now() }))

  // Callers that come while a check is under way get its result, so that probing cannot become a load.
  const once = singleFlight<{ database: Checked; cache: Checked }>()
  const check = async () => {
    const [database, cacheState] = await Promise.all([ping(() => db.ping()), ping(() => cache.ping())])
    return { database, cache: cacheState }
  }
  app.get('/readyz', options, async (_request, reply) => {
    const checks = await once('ready', check)
    const ready = checks.database === 'UP' && checks.cache === 'UP' && !isDraining()
    reply.code(ready ? 200 : 503)
    return { status: ready ? 'READY' : 'NOT_READY', ...checks, time: now() }
  })

  app.get('/metrics', options, async (_request, reply) => {
    reply.header('content-type', metrics.contentType)
    return metrics.expose()
  })

  app.get('/metricsz', options, () => ({ time: now(), db_pool: db.statistics() }))
}

const now = () => new Date().toISOString()

/** UP when the backend answered within 3 seconds. A ping that hangs is left behind, not waited for. */
async function ping(send: () => Promise<void>): Promise<Checked> {
  const { promise: timeout, resolve } = Promise.withResolvers<Checked>()
  const timer = setTimeout(resolve, PING_TIMEOUT_MS, 'DOWN')
  const answer = Promise.try(send).then(
    (): Checked => 'UP',
    (): Checked => 'DOWN'
  )
  try {
    return await Promise.race([answer, timeout])
  } finally {
    clearTimeout(timer)
  }
}
