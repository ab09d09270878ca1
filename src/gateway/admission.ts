import type { FastifyInstance } from 'fastify'
import { overloaded } from './errors.ts'

const RETRY_SECONDS = 1

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether this request takes one of the places. */
    isAdmitted: boolean
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
