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
  { db, cache, metrics, isDraining, hasPrivateMetrics }: DiagnosticsDeps
): void {
  const options = {
    schema: { hide: true },
    logLevel: 'warn' as const,
    config: { isDiagnostic: true as const }
  }
  const readiness = createReadiness({ db, cache, isDraining })

  app.get('/healthz', options, () => ({ status: 'UP', time: now() }))

  app.get('/readyz', options, async (_request, reply) => {
    const { isReady, body } = await readiness()
    reply.code(isReady ? 200 : 503)
    return body
  })

  if (hasPrivateMetrics) return
  app.get('/metrics', options, async (_request, reply) => {
    reply.header('content-type', metrics.contentType)
    return metrics.expose()
  })

  app.get('/metricsz', options, () => ({ time: now(), db_pool: db.statistics() }))
}

const now = () => new Date().toISOString()
