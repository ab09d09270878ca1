import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'

type Answer = { properties?: Record<string, unknown> }

/**
 * What the answer that a route declares says already, so that its handler need not: the status, where only one is good,
 * and as the ETag the version of what is shown (RFC 9110, section 8.8.3). A handler that sends its answer as text
 * sets that header itself.
 */
export function withAnswer(route: RouteOptions): RouteOptions {
  const declared = Object.entries((route.schema?.response ?? {}) as Record<string, Answer>)
  const [good, ...others] = declared.filter(([status]) => status.startsWith('2'))
  if (good === undefined || others.length > 0) return route
  const [status, { properties = {} }] = good
  const answered = status === '200' ? route : { ...route, handler: withStatus(Number(status), route.handler) }
  return 'version' in properties ? { ...answered, preSerialization: tagVersion } : answered
}

const withStatus = (status: number, handler: RouteOptions['handler']): RouteOptions['handler'] =>
  function (request, reply) {
    reply.code(status)
    return handler.call(this, request, reply)
  }

type Done = (error: Error | null, payload: unknown) => void

function tagVersion(_request: FastifyRequest, reply: FastifyReply, payload: unknown, done: Done): void {
  // The body of a refusal may hold the version of something, which is not the ETag of the refusal.
  if (reply.statusCode < 300) reply.header('etag', `"${(payload as { version: number }).version}"`)
  done(null, payload)
}
