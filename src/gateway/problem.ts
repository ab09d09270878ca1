import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError, type ErrorKind } from '../kernel/errors.ts'
import { STATUS_CODES } from '../platform/node-http.ts'
import { malformedRequestError } from './errors.ts'
import { isStreamedBody } from './routing/body-kinds.ts'

/** Maps each kind of error to its HTTP status. */
export const httpStatusByErrorKind: Readonly<Record<ErrorKind, number>> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  gone: 410,
  conflict: 409,
  stale: 412,
  reused_key: 422,
  rate_limited: 429,
  unavailable: 503
}

/** Problems of the HTTP layer, by the error codes of Fastify, Node and the shop. A test keeps them equal to `docs/errors.md`. */
export const httpLayerProblems = {
  FST_ERR_CTP_BODY_TOO_LARGE: {
    status: 413,
    code: 'BODY_TOO_LARGE',
    detail: 'The body is larger than this route takes; `bytes_max` says how many bytes it may have.'
  },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
    detail:
      'This content type is not accepted here: application/json is, and for files the one that /docs names.'
  },
  FST_ERR_MAX_PARAM_LENGTH: {
    status: 414,
    code: 'URI_TOO_LONG',
    detail: 'A part of the path is longer than allowed.'
  },
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: 'HEADERS_TOO_LARGE',
    detail: 'The headers are larger than allowed.'
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    code: 'REQUEST_TIMEOUT',
    detail: 'The request took too long to arrive.'
  },
  ROUTE_NOT_FOUND: { status: 404, code: 'ROUTE_NOT_FOUND', detail: 'There is no such route.' },
  METHOD_NOT_ALLOWED: {
    status: 405,
    code: 'METHOD_NOT_ALLOWED',
    detail: 'The route does not know this method.'
  },
  HOST_NOT_SERVED: {
    status: 421,
    code: 'HOST_NOT_SERVED',
    detail:
      'In development the shop is served to localhost only. Add the name in Host to server.development_hosts.'
  },
  INTERNAL: { status: 500, code: 'INTERNAL', detail: 'Something went wrong on our side; it has been logged.' }
} as const

/** A problem (RFC 9457) with the extension members `code`, `request_id`, and those in `details`. */
export type Problem = { status: number; code: string; detail: string; details?: Record<string, unknown> }

const PROBLEM_JSON = 'application/problem+json; charset=utf-8'
const RETRY_SECONDS = '1'

function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  return reply
    .code(problem.status)
    .header('content-type', PROBLEM_JSON)
    .header('cache-control', 'private, no-store')
    .send(problemBody(problem, reply.request.id))
}

/** Returns headers and body of a problem that is sent without Fastify. `common` are the headers of every response. */
export function createProblemResponse(
  problem: Problem,
  requestId: string,
  common: Readonly<Record<string, string>>
) {
  const body = problemBody(problem, requestId)
  const headers: Record<string, string> = {
    ...common,
    'content-type': PROBLEM_JSON,
    'content-length': String(Buffer.byteLength(body)),
    'x-request-id': requestId
  }
  if (problem.status === 503) headers['retry-after'] = RETRY_SECONDS
  return { headers, body }
}

/** Serialized problem responses without the request id, cached by problem. */
const bodyPrefixes = new WeakMap<Problem, string>()

function problemBody(problem: Problem, requestId: string): string {
  const { status, code, detail, details } = problem
  const members = { type: 'about:blank', title: STATUS_CODES[status] ?? 'Error', status, detail, code }
  if (details !== undefined) {
    const all = { ...members, request_id: requestId }
    // The standard members are spread twice: first for their order, then so that no detail replaces them.
    return JSON.stringify({ ...all, ...details, ...all })
  }
  const prefix = bodyPrefixes.get(problem) ?? JSON.stringify(members).slice(0, -1)
  bodyPrefixes.set(problem, prefix)
  return `${prefix},"request_id":${JSON.stringify(requestId)}}`
}

/** Sends 405 if the path has other methods, otherwise 404. */
export function sendUnknownRoute(reply: FastifyReply, allowed: readonly string[]): FastifyReply {
  if (allowed.length === 0) return sendProblem(reply, httpLayerProblems.ROUTE_NOT_FOUND)
  return sendProblem(reply.header('allow', allowed.join(', ')), httpLayerProblems.METHOD_NOT_ALLOWED)
}

/** Returns the body limit of the request's route. */
const bytesMaxOf = ({ routeOptions: { bodyLimit, config } }: FastifyRequest): number =>
  isStreamedBody(config.body) ? config.body.bytesMax : bodyLimit

export function sendHostNotServed(reply: FastifyReply): void {
  sendProblem(reply, httpLayerProblems.HOST_NOT_SERVED)
}

/**
 * Fastify's error handler. It returns nothing, because Fastify awaits a returned reply, which resolves early when the
 * client disconnects.
 */
export function sendErrorResponse(
  error: FastifyError | DomainError,
  request: FastifyRequest,
  reply: FastifyReply
): void {
  sendProblem(reply, problemOf(error, request, reply))
}

/** Converts an error to a problem. An unknown error is a bug: it is logged, and its text is hidden. */
function problemOf(error: FastifyError | DomainError, request: FastifyRequest, reply: FastifyReply): Problem {
  if (error instanceof DomainError) {
    request.mayPass = error.mayPass
    if (error.kind === 'unauthenticated') reply.header('www-authenticate', 'Bearer')
    if (error.retryAfterSeconds !== undefined) reply.header('retry-after', error.retryAfterSeconds)
    // With a cause, a dependency is down. Without one, the process is overloaded and logs nothing.
    if (error.kind === 'unavailable' && error.cause !== undefined)
      request.log.warn({ req_id: request.id, err: error }, error.code)
    const { code, message, details } = error
    return { status: httpStatusByErrorKind[error.kind], code, detail: message, details }
  }
  const known = httpLayerProblems[error.code as keyof typeof httpLayerProblems]
  if (known === httpLayerProblems.FST_ERR_CTP_BODY_TOO_LARGE)
    return { ...known, details: { bytes_max: bytesMaxOf(request) } }
  if (known !== undefined) return known
  // Fastify's own errors, and Node's error for a body that ended early.
  const isClientError = error.code?.startsWith('FST_') || error.code === 'ECONNRESET'
  if (isClientError && error.statusCode !== undefined && error.statusCode < 500)
    return { status: error.statusCode, code: malformedRequestError.code, detail: error.message }
  request.log.error({ req_id: request.id, err: error }, 'unexpected error')
  return httpLayerProblems.INTERNAL
}
