import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Log } from '../../platform/log.ts'
import type { Metrics } from '../../platform/metrics/registry.ts'
import { httpProblems, problemAnswer } from '../problem.ts'

/** The response of the request that the running code serves, through its timers, callbacks and promises. */
const current = new AsyncLocalStorage<ServerResponse>()

/** Handles a request, so that an uncaught error can be attributed to it. */
export function runRequest(
  response: ServerResponse,
  handler: RequestListener,
  request: IncomingMessage
): void {
  current.run(response, handler, request, response)
}

export type UncaughtDeps = {
  log: Log
  metrics: Metrics
  /** What every answer carries. */
  headers: Readonly<Record<string, string>>
}

/**
 * What is thrown where nobody catches it (a timer, an `error` event without a listener, a forgotten promise) would end
 * the process, and with it every other request. It is always logged and counted. When it was thrown on behalf of a
 * request that is still unanswered, that request alone gets 500, and the process goes on: what it holds beyond the
 * request is guarded by its own rules (a transaction rolls back, a connection that broke is made anew). Anything else
 * may have left the process in any state: it stops in order, and whoever runs it starts it again.
 */
export function createUncaughtHandler({ log, metrics, headers }: UncaughtDeps) {
  const uncaught = metrics.counter('uncaught_errors', 'Errors that nobody caught, by whose they were.', {
    of: ['request', 'process']
  })
  /** A listener for the process. `stop` ends it in order, with exit code 1. */
  return (stop: () => void) => (error: unknown, origin: NodeJS.UncaughtExceptionOrigin) => {
    const response = current.getStore()
    if (response === undefined || response.writableEnded) {
      uncaught.add({ of: 'process' })
      log.fatal({ err: error, origin }, 'uncaught error: stopping')
      stop()
      return
    }
    uncaught.add({ of: 'request' })
    const id = randomUUID()
    log.error({ req_id: id, err: error, origin }, 'uncaught error of one request')
    if (response.headersSent) {
      response.destroy()
      return
    }
    const answer = problemAnswer(httpProblems.INTERNAL, id, { ...headers, connection: 'close' })
    response.writeHead(httpProblems.INTERNAL.status, answer.headers).end(answer.body)
  }
}
