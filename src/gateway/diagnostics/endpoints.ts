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
  let encoded = { text: '', bytes: Buffer.alloc(0) }
  app.get('/metrics', options, async (_request, reply) => {
    const text = await metrics.expose()
    // Many callers share a text, which is encoded once.
    if (text !== encoded.text) encoded = { text, bytes: Buffer.from(text) }
    return reply.header('content-type', metrics.contentType).send(encoded.bytes)
  })

  app.get('/metricsz', options, () => ({ time: now(), db_pool: db.statistics() }))
}

const now = () => new Date().toISOString()
