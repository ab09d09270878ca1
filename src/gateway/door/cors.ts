import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener } from 'node:http'
import type { Metrics } from '../diagnostics/metrics.ts'

export type CorsDeps = {
  /** The origins whose pages may read answers. */
  origins: readonly string[]
  /** What pages may send beside what every page may. */
  requestHeaders: readonly string[]
  /** What every answer carries. */
  headers: Readonly<Record<string, string>>
  metrics: Pick<Metrics, 'observe'>
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
/** What a page may read of an answer beside what every page may. */
const ANSWER_HEADERS = [
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
/** The longest that browsers keep the answer to a preflight: Chromium two hours, others more. */
const KEPT_SECONDS = '7200'

/**
 * Lets pages of some other origins use what is below `/api` (https://fetch.spec.whatwg.org/#http-cors-protocol). An
 * answer to anybody else stays as it is, so that their browser shows it to no page. There are no cookies, so whoever has
 * no token gets from another origin what everybody gets.
 *
 * It stands in front of the door and not among the hooks: a page has to read also why it was refused, and no refusal of
 * the door passes a hook. Without origins it is not there at all.
 */
export function createCors({ origins, requestHeaders, headers, metrics }: CorsDeps) {
  const allowed = new Set(origins)
  const preflightHead = [
    ...Object.entries(headers).flat(),
    ...['access-control-allow-methods', METHODS],
    ...['access-control-allow-headers', [...REQUEST_HEADERS, ...requestHeaders].join(', ')],
    ...['access-control-max-age', KEPT_SECONDS]
  ]
  const isAllowed = ({ headers: { origin }, url = '' }: IncomingMessage): boolean =>
    origin !== undefined && allowed.has(origin) && url.startsWith(PREFIX)

  return {
    /** Says in each answer to an allowed page that it may be read, whoever then makes the answer. */
    readable(listener: RequestListener): RequestListener {
      if (allowed.size === 0) return listener
      return (request, response) => {
        if (isAllowed(request)) {
          response.setHeader('vary', 'Origin')
          response.setHeader('access-control-allow-origin', request.headers.origin as string)
          response.setHeader('access-control-expose-headers', ANSWER_HEADERS)
        }
        listener(request, response)
      }
    },

    /**
     * Answers what a browser asks before it sends a request. It is the same for every route, and costs no more than
     * to say so: nothing is limited, admitted or logged, but counted as the route `preflight`.
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
