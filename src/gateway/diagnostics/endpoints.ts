import type { FastifyInstance } from 'fastify'
import type { Database } from '../../platform/postgres/database.ts'
import type { Metrics } from './metrics.ts'
import { createReadiness, type ReadinessDeps } from './readiness.ts'

export type DiagnosticsDeps = ReadinessDeps & {
  db: Database
  metrics: Metrics
  /** Whether metrics are on another port only. */
  hasPrivateMetrics: boolean
}

/**
 * The four endpoints that always answer, but for metrics that have a port of their own: outside `/api`, before authentication, limits and admission
 * (specification, "Diagnostic endpoints").
 */
export function mountDiagnostics(
  app: FastifyInstance,
  { db, cache, metrics, isHeld, hasPrivateMetrics }: DiagnosticsDeps
): void {
  const described = (summary: string, description: string) => ({
    schema: { tags: ['diagnostics'], summary, description },
    logLevel: 'warn' as const,
    config: { isDiagnostic: true as const }
  })
  const readiness = createReadiness({ db, cache, isHeld })

  const alive = described('Check that the process is alive', 'Answers 200 with `status` and `time`.')
  app.get('/healthz', alive, () => ({ status: 'UP', time: now() }))

  const ready = described(
    'Check that the shop can serve requests',
    'Answers 200, or 503 with the same fields: whether the database and the cache answer a ping, whether the first start is complete, and whether it drains.'
  )
  app.get('/readyz', ready, async (_request, reply) => {
    const { isReady, body } = await readiness()
    reply.code(isReady ? 200 : 503)
    return body
  })

  if (hasPrivateMetrics) return
  let encoded = { text: '', bytes: Buffer.alloc(0) }
  const exposition = described('List metrics', 'Text in the format of Prometheus.')
  app.get('/metrics', exposition, async (_request, reply) => {
    const text = await metrics.expose()
    // Many callers share a text, which is encoded once.
    if (text !== encoded.text) encoded = { text, bytes: Buffer.from(text) }
    return reply.header('content-type', metrics.contentType).send(encoded.bytes)
  })

  const pool = described('Show database connections', 'Statistics of the connections as JSON.')
  app.get('/metricsz', pool, () => ({ time: now(), db_pool: db.statistics() }))
}

const now = () => new Date().toISOString()
