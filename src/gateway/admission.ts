import type { FastifyInstance, RouteOptions } from 'fastify'
import { overloaded } from './errors.ts'

const RETRY_SECONDS = 1

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether this request takes one of the places. */
    isAdmitted: boolean
  }
}

/** The error code that Node uses for the same; see `httpProblems`. */
const requestTimeout = () =>
  Object.assign(new Error('the body is too slow'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })

/**
 * For Fastify's `onRoute`: a body has so long to arrive, then the answer is 408. A thousand bodies that never end
 * would take all the places there are.
 */
export const limitBodyTime = (bodySeconds: number) => (route: RouteOptions) => {
  if (route.method === 'GET' || route.method === 'HEAD' || route.config?.streamsBody === true) return
  route.preParsing = (_request, reply, payload, done) => {
    const giveUp = () => {
      if (!reply.sent) payload.emit('error', requestTimeout())
    }
    const timer = setTimeout(giveUp, bodySeconds * 1_000)
    payload.once('end', () => clearTimeout(timer))
    payload.once('close', () => clearTimeout(timer))
    done(null, payload)
  }
}

/** Answers 503 at once when too much is under way: what is accepted is finished. */
export function limitConcurrency(scope: FastifyInstance, concurrentMax: number): void {
  let underWay = 0
  scope.decorateRequest('isAdmitted', false)
  scope.addHook('onRequest', (request, _reply, done) => {
    if (underWay >= concurrentMax) return done(overloaded({ retryAfterSeconds: RETRY_SECONDS }))
    underWay += 1
    request.isAdmitted = true
    done()
  })
  // A request is under way until its work is done and its answer is out. Fastify's `onResponse` would not do: it is
  // not called when the client goes away first, and each such request would take a place for ever.
  scope.addHook('onSend', (request, reply, payload, done) => {
    if (request.isAdmitted) {
      request.isAdmitted = false
      const leave = () => {
        underWay -= 1
      }
      if (reply.raw.destroyed) leave()
      else reply.raw.once('close', leave)
    }
    done(null, payload)
  })
}
