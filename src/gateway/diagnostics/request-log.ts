import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { formatTraceparent, parseTraceparent } from '../../platform/tracing/trace-context.ts'
import type { Span, Tracer } from '../../platform/tracing/tracer.ts'
import { requestPath } from '../routing/routes.ts'
import type { MetricsExposition } from './metrics.ts'

const CLIENT_GONE = 499 // not registered; proxies commonly log it for a client that disconnected
const NO_ROUTE = 'unknown'
const PATH_LENGTH_MAX = 256

declare module 'fastify' {
  interface FastifyRequest {
    /** The span of this request, when its trace is recorded. */
    span?: Span
  }
}

/** Returns a valid traceparent only, so that callers cannot write other text into the log. */
const traceOf = ({ span, headers: { traceparent } }: FastifyRequest): string | undefined => {
  if (span !== undefined) return formatTraceparent(span.context)
  return typeof traceparent === 'string' && parseTraceparent(traceparent) ? traceparent : undefined
}

/** The kind of the caller; undefined for an anonymous one. */
const callerOf = ({ identity }: FastifyRequest): string | undefined =>
  identity?.apiKeyId === undefined ? identity?.role : 'api_key'

/** Records a span for each request, below the one that the caller names in `traceparent`. */
export function addRequestSpans(app: FastifyInstance, tracer: Tracer): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { method, headers } = request
    const span = tracer.begin({ name: method, kind: 'server' }, parseTraceparent(headers.traceparent))
    if (span === undefined) return done()
    request.span = span
    reply.raw.once('close', () => {
      const { url: route = NO_ROUTE } = request.routeOptions
      const status = reply.raw.writableEnded ? reply.statusCode : CLIENT_GONE
      const attributes = {
        'http.request.method': method,
        'http.route': route,
        'http.response.status_code': status,
        'cartwright.caller': callerOf(request)
      }
      span.end({ name: `${method} ${route}`, hasFailed: status >= 500, attributes })
    })
    tracer.enter(span)
    done()
  })
  // A request that waited for a slot continues in the asynchronous context of the request that released it.
  app.addHook('preHandler', (request, _reply, done) => {
    if (request.span !== undefined) tracer.enter(request.span)
    done()
  })
}

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
      user: request.identity?.userId,
      caller: callerOf(request)
    }
    // The trace of the caller or proxy (W3C Trace Context), to find its lines.
    const trace = traceOf(request)
    request.log.info(trace === undefined ? line : { ...line, trace })
  })
}
