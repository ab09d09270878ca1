import type { FastifyReply, FastifyRequest } from 'fastify'
import { pathOf } from '../routing/routes.ts'
import type { Metrics } from './metrics.ts'

const CLIENT_GONE = 499 // not a registered status; what proxies commonly log for a client that did not wait
const NO_ROUTE = 'unknown'
const PATH_LENGTH_MAX = 256

// Version, trace, parent and flags (W3C Trace Context, 3.2); ids of nothing but zeros and version ff are none.
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/

/** Nothing else that a caller sends goes into the log under this name. */
const traceOf = (header: unknown): string | undefined =>
  typeof header === 'string' && TRACEPARENT.test(header) ? header : undefined

/** Counts and logs a request once its answer is out, or its client is gone. One line a request. */
export function recordAnswer(request: FastifyRequest, reply: FastifyReply, metrics: Metrics): void {
  reply.raw.once('close', () => {
    request.visit?.closed()
    const { url: route = NO_ROUTE, logLevel } = request.routeOptions
    const status = reply.raw.writableEnded ? reply.statusCode : CLIENT_GONE
    const milliseconds = reply.elapsedTime
    metrics.observe(request.method, route, status, milliseconds / 1_000)
    // Probes come every few seconds for ever; their routes ask for fewer lines.
    if (logLevel === 'warn') return
    const line = {
      req_id: request.id,
      method: request.method,
      route,
      // Without the query, which may hold secrets.
      path: route === NO_ROUTE ? pathOf(request.url.slice(0, PATH_LENGTH_MAX)) : undefined,
      status,
      ms: Math.round(milliseconds * 1_000) / 1_000,
      user: request.identity?.userId
    }
    // The trace that a caller or proxy began (W3C Trace Context), so that its lines can be found again.
    const trace = traceOf(request.headers.traceparent)
    request.log.info(trace === undefined ? line : { ...line, trace })
  })
}
