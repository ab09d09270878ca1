import type { FastifyInstance } from 'fastify'
import type { Database } from '../../platform/postgres/database.ts'
import type { WorkerLink } from '../../platform/worker-link.ts'
import { METRICS_CONTENT_TYPE, type MetricsExposition } from './metrics.ts'
import { createReadinessCheck, type ReadinessDeps } from './readiness.ts'

export type DiagnosticsEndpointDeps = ReadinessDeps & {
  db: Database
  /** The link to the other workers, whose connections count too. */
  worker?: Pick<WorkerLink, 'poolStatistics'> | undefined
  metrics: MetricsExposition
  /** Whether metrics are served on the diagnostics port only. */
  hasPrivateMetrics: boolean
}

/**
 * Mounts the four diagnostic endpoints, without metrics if they are private. They need no authentication, and no limits or
 * admission apply (specification, "Diagnostic endpoints").
 */
export function mountDiagnostics(
  app: FastifyInstance,
  { db, cache, worker, metrics, isHeld, hasPrivateMetrics }: DiagnosticsEndpointDeps
): void {
  const described = (summary: string, description: string) => ({
    schema: { tags: ['diagnostics'], summary, description },
    logLevel: 'warn' as const,
    config: { isDiagnostic: true as const }
  })
  const readiness = createReadinessCheck({ db, cache, isHeld })

  const alive = described(
    'Check liveness',
    'Returns 200 while the process runs. Needs no database and no token. Use it to restart a process that hangs.'
  )
  app.get('/healthz', alive, () => ({ status: 'UP', time: now() }))

  const ready = described(
    'Check readiness',
    'Returns 200 if this process can serve requests. 503: the database or the cache does not respond, or the ' +
      'process is starting or stopping. Send it no requests until it returns 200. `writes`, `redis` and ' +
      '`replica` do not change the status, because the process serves pages without them. `writes: READ_ONLY`: the ' +
      'process only reads.'
  )
  app.get('/readyz', ready, async (_request, reply) => {
    const { isReady, body } = await readiness()
    reply.code(isReady ? 200 : 503)
    return body
  })

  if (hasPrivateMetrics) return
  let encoded = { text: '', bytes: Buffer.alloc(0) }
  const exposition = described(
    'List metrics',
    'Returns the metrics of this process, or of all workers of its command, as text in the format of Prometheus.'
  )
  app.get('/metrics', exposition, async (_request, reply) => {
    const text = await metrics.expose()
    // Simultaneous callers of the metrics get the same text, so it is encoded once.
    if (text !== encoded.text) encoded = { text, bytes: Buffer.from(text) }
    return reply.header('content-type', METRICS_CONTENT_TYPE).send(encoded.bytes)
  })

  const pool = described(
    'Retrieve connection pool statistics',
    'Returns the number of database connections of this process, or of all workers of its command, by state.'
  )
  const poolStatistics = worker?.poolStatistics ?? db.statistics
  app.get('/metricsz', pool, async () => ({ time: now(), db_pool: await poolStatistics() }))
}

const now = () => new Date().toISOString()
