import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'

type DeclaredResponse = { properties?: Record<string, unknown> }

/**
 * Adds what the declared response implies: the status if only one 2xx is declared, and the object's version as ETag
 * (RFC 9110, section 8.8.3). A handler that sends text sets the ETag itself.
 */
export function withDefaultStatusAndEtag(route: RouteOptions): RouteOptions {
  const declared = Object.entries((route.schema?.response ?? {}) as Record<string, DeclaredResponse>)
  const [good, ...others] = declared.filter(([status]) => status.startsWith('2'))
  if (good === undefined || others.length > 0) return route
  const [status, { properties = {} }] = good
  const answered = status === '200' ? route : { ...route, handler: withStatus(Number(status), route.handler) }
  return 'version' in properties
    ? { ...answered, preSerialization: [tagVersion, ...[answered.preSerialization ?? []].flat()] }
    : answered
}

const withStatus = (status: number, handler: RouteOptions['handler']): RouteOptions['handler'] =>
  function (request, reply) {
    reply.code(status)
    return handler.call(this, request, reply)
  }

type Done = (error: Error | null, payload: unknown) => void

function tagVersion(_request: FastifyRequest, reply: FastifyReply, payload: unknown, done: Done): void {
  // An error body may contain a version too, which is not its ETag.
  if (reply.statusCode < 300) reply.header('etag', `"${(payload as { version: number }).version}"`)
  done(null, payload)
}
