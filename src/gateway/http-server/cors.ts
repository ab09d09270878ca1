import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener } from 'node:http'
import type { MetricsExposition } from '../diagnostics/metrics.ts'

export type CorsDeps = {
  /** Origins of web pages that may read responses of the API. */
  origins: readonly string[]
  /** Request headers that pages may send in addition to the safelisted ones. */
  requestHeaders: readonly string[]
  /** Headers of every response. */
  headers: Readonly<Record<string, string>>
  metrics: Pick<MetricsExposition, 'observe'>
}

const PREFIX = '/api/'
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'
const REQUEST_HEADERS = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'Traceparent',
  'X-Request-Id'
]
/** Response headers that pages may read in addition to the safelisted ones. */
const EXPOSED_HEADERS = [
  'Allow',
  'Content-Disposition',
  'ETag',
  'Idempotency-Replayed',
  'Link',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'WWW-Authenticate',
  'X-Request-Id'
].join(', ')
/** Seconds that browsers may cache a preflight response: the maximum of Chromium; other browsers allow more. */
const PREFLIGHT_SECONDS = '7200'

/**
 * Allows pages of the configured origins to use `/api` (https://fetch.spec.whatwg.org/#http-cors-protocol). Responses to
 * other origins have no CORS headers, so browsers hide them from pages. The shop uses no cookies, so a page without a token
 * can read only public data.
 *
 * It wraps the request listener instead of being a hook, so that pages can also read its refusals. Without origins it does
 * nothing.
 */
export function createCors({ origins, requestHeaders, headers, metrics }: CorsDeps) {
  const allowed = new Set(origins)
  const preflightHead = [
    ...Object.entries(headers).flat(),
    ...['access-control-allow-methods', METHODS],
    ...['access-control-allow-headers', [...REQUEST_HEADERS, ...requestHeaders].join(', ')],
    ...['access-control-max-age', PREFLIGHT_SECONDS]
  ]
  const isAllowed = ({ headers: { origin }, url = '' }: IncomingMessage): boolean =>
    origin !== undefined && allowed.has(origin) && url.startsWith(PREFIX)

  return {
    /** Adds CORS headers to every response to an allowed origin. */
    exposeResponses(listener: RequestListener): RequestListener {
      if (allowed.size === 0) return listener
      return (request, response) => {
        if (isAllowed(request)) {
          response.setHeader('vary', 'Origin')
          response.setHeader('access-control-allow-origin', request.headers.origin as string)
          response.setHeader('access-control-expose-headers', EXPOSED_HEADERS)
        }
        listener(request, response)
      }
    },

    /**
     * Answers preflight requests, alike for every route. They are not limited, admitted or logged, but counted as the route
     * `preflight`.
     */
    answerPreflights(listener: RequestListener): RequestListener {
      if (allowed.size === 0) return listener
      return (request, response) => {
        const isPreflight =
          request.method === 'OPTIONS' &&
          request.headers['access-control-request-method'] !== undefined &&
          isAllowed(request)
        if (!isPreflight) return listener(request, response)
        const startedAt = performance.now()
        response.writeHead(204, [...preflightHead, 'x-request-id', randomUUID()]).end()
        metrics.observe('OPTIONS', 'preflight', 204, (performance.now() - startedAt) / 1_000)
      }
    }
  }
}
