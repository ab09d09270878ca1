import { STATUS_CODES } from 'node:http'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError, type ErrorKind } from '../kernel/errors.ts'
import { malformedRequest, validationFailed } from './errors.ts'

/** The one place where a kind of failure becomes an HTTP status. */
const STATUS: Record<ErrorKind, number> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  stale: 412,
  reused_key: 422,
  rate_limited: 429,
  unavailable: 503
}

/** What the HTTP layer itself refuses: its own error codes, and ours. Kept equal to `docs/errors.md` by a test. */
export const httpProblems = {
  FST_ERR_CTP_BODY_TOO_LARGE: {
    status: 413,
    code: 'BODY_TOO_LARGE',
    detail: 'The body is larger than allowed.'
  },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
    detail: 'This content type is not accepted here; send application/json.'
  },
  ROUTE_NOT_FOUND: { status: 404, code: 'ROUTE_NOT_FOUND', detail: 'There is no such route.' },
  METHOD_NOT_ALLOWED: {
    status: 405,
    code: 'METHOD_NOT_ALLOWED',
    detail: 'The route does not know this method.'
  },
  INTERNAL: { status: 500, code: 'INTERNAL', detail: 'Something went wrong on our side; it has been logged.' }
} as const

/** RFC 9457, with the extension members `code`, `request_id`, and those of the error itself. */
export type Problem = { status: number; code: string; detail: string; details?: Record<string, unknown> }

export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  return reply
    .code(problem.status)
    .header('content-type', 'application/problem+json; charset=utf-8')
    .send(problemBody(problem, reply.request.id))
}

export function problemBody({ status, code, detail, details }: Problem, requestId: string): string {
  const title = STATUS_CODES[status] ?? 'Error'
  return JSON.stringify({
    type: 'about:blank',
    title,
    status,
    detail,
    code,
    request_id: requestId,
    ...details
  })
}

/** Fastify's error handler: known failures say what they are, everything else is a bug that is logged and hidden. */
export function handleError(error: FastifyError | DomainError, request: FastifyRequest, reply: FastifyReply) {
  if (error instanceof DomainError) {
    if (error.kind === 'unauthenticated') reply.header('www-authenticate', 'Bearer')
    if (error.retryAfterSeconds !== undefined) reply.header('retry-after', error.retryAfterSeconds)
    if (error.kind === 'unavailable') request.log.warn({ req_id: request.id, err: error }, error.code)
    const { code, message, details } = error
    return sendProblem(reply, { status: STATUS[error.kind], code, detail: message, details })
  }
  const refused = httpProblems[error.code as keyof typeof httpProblems]
  if (refused !== undefined) return sendProblem(reply, refused)
  if (error.code?.startsWith('FST_') && error.statusCode !== undefined && error.statusCode < 500) {
    return sendProblem(reply, {
      status: error.statusCode,
      code: malformedRequest.code,
      detail: error.message
    })
  }
  request.log.error({ req_id: request.id, err: error }, 'unexpected error')
  return sendProblem(reply, httpProblems.INTERNAL)
}

/** What a schema found wrong, as `errors: [{ path, message }]` with JSON pointers (RFC 6901) under the part's name. */
export function validationError(part: string, errors: readonly SchemaError[]): DomainError {
  const unknown = errors.filter(error => error.keyword === 'boolean').map(error => error.instancePath)
  const found = errors
    .filter(error => error.keyword !== 'additionalProperties' && error.keyword !== 'boolean')
    .map(error => ({ path: part + error.instancePath, message: error.message }))
  const extra = unknown.map(path => ({ path: part + path, message: 'unknown property' }))
  return validationFailed({ details: { errors: [...found, ...extra] } })
}
type SchemaError = { keyword: string; instancePath: string; message: string }
