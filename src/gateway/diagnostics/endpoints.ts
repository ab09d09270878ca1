import type { FastifyInstance } from 'fastify'
import type { Database } from '../../platform/postgres/database.ts'
import type { Metrics } from './metrics.ts'
import { createReadiness, type ReadinessDeps } from './readiness.ts'

export type DiagnosticsDeps = ReadinessDeps & { db: Database; metrics: Metrics }

/**
 * The four endpoints that always answer: outside `/api`, before authentication, limits and admission
 * (specification, "Diagnostic endpoints").
 */
export function mountDiagnostics(
  app: FastifyInstance,
  { db, cache, metrics, isDraining }: DiagnosticsDeps
): void {
  const options = { schema: { hide: true }, logLevel: 'warn' as const }
  const readiness = createReadiness({ db, cache, isDraining })

  app.get('/healthz', options, () => ({ status: 'UP', time: now() }))

  app.get('/readyz', options, async (_request, reply) => {
    const { isReady, body } = await readiness()
    reply.code(isReady ? 200 : 503)
    return body
  })

  app.get('/metrics', options, async (_request, reply) => {
    reply.header('content-type', metrics.contentType)
    return metrics.expose()
  })

  app.get('/metricsz', options, () => ({ time: now(), db_pool: db.statistics() }))
}

const now = () => new Date().toISOString()
