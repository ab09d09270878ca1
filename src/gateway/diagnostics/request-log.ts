import type { FastifyReply, FastifyRequest } from 'fastify'
import { requestPath } from '../routing/routes.ts'
import type { MetricsExposition } from './metrics.ts'

const CLIENT_GONE = 499 // not registered; proxies commonly log it for a client that disconnected
const NO_ROUTE = 'unknown'
const PATH_LENGTH_MAX = 256

// Version, trace, parent and flags (W3C Trace Context, 3.2). Ids of only zeros and version ff are invalid.
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/

/** Returns a valid traceparent only, so that callers cannot write other text into the log. */
const traceOf = (header: unknown): string | undefined =>
  typeof header === 'string' && TRACEPARENT.test(header) ? header : undefined

/** Counts and logs a request, in one line, once its response is sent or its client has disconnected. */
export function countAndLogRequest(
  request: FastifyRequest,
  reply: FastifyReply,
  metrics: MetricsExposition
): void {
  reply.raw.once('close', () => {
    request.slot?.connectionClosed()
    const { url: route = NO_ROUTE, logLevel } = request.routeOptions
    const status = reply.raw.writableEnded ? reply.statusCode : CLIENT_GONE
    const milliseconds = reply.elapsedTime
    metrics.observe(request.method, route, status, milliseconds / 1_000)
    // Probes come every few seconds, so diagnostic routes are not logged.
    if (logLevel === 'warn') return
    const line = {
      req_id: request.id,
      method: request.method,
      route,
      // Without the query, which may contain secrets.
      path: route === NO_ROUTE ? requestPath(request.url.slice(0, PATH_LENGTH_MAX)) : undefined,
      status,
      ms: Math.round(milliseconds * 1_000) / 1_000,
      user: request.identity?.userId
    }
    // The trace of the caller or proxy (W3C Trace Context), to find its lines.
    const trace = traceOf(request.headers.traceparent)
    request.log.info(trace === undefined ? line : { ...line, trace })
  })
}
