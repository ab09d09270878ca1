import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Log } from '../../platform/log.ts'
import type { Metrics } from '../../platform/metrics/registry.ts'
import { createProblemResponse, httpLayerProblems } from '../problem.ts'

/** The response that the running code serves, across timers, callbacks and promises. */
const current = new AsyncLocalStorage<ServerResponse>()

/** Handles a request so that uncaught errors can be attributed to it. */
export function runInRequestContext(
  response: ServerResponse,
  handler: RequestListener,
  request: IncomingMessage
): void {
  current.run(response, handler, request, response)
}

export type UncaughtErrorDeps = {
  log: Log
  metrics: Metrics
  /** Headers of every response. */
  headers: Readonly<Record<string, string>>
}

/**
 * Handles uncaught errors (in a timer, an `error` event without a listener, or a promise without a handler). All are logged
 * and counted. If the error belongs to a request without a response, that request gets 500 and the process continues. Its
 * transaction rolls back, and broken connections are replaced. After any other uncaught error the state of the process is
 * unknown, so it shuts down, and its supervisor restarts it.
 */
export function createUncaughtErrorHandler({ log, metrics, headers }: UncaughtErrorDeps) {
  const uncaught = metrics.counter('uncaught_errors', 'Uncaught errors, by origin.', {
    of: ['request', 'process']
  })
  /** Returns a listener for the process. `stop` shuts it down with exit code 1. */
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
    const answer = createProblemResponse(httpLayerProblems.INTERNAL, id, { ...headers, connection: 'close' })
    response.writeHead(httpLayerProblems.INTERNAL.status, answer.headers).end(answer.body)
  }
}
