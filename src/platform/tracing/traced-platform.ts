import type { HttpClient } from '../http/client.ts'
import type { EventOrJobHandler } from '../outbox/handlers.ts'
import type { Outbox } from '../outbox/outbox.ts'
import type { Database, Queryable } from '../postgres/database.ts'
import { formatTraceparent } from './trace-context.ts'
import type { Tracer } from './tracer.ts'

const POSTGRESQL = { 'db.system.name': 'postgresql' }

/** The database with a span for each statement and each transaction. A transaction lists its statements as events. */
export function traceDatabase(db: Database, tracer: Tracer): Database {
  const traced =
    (send: Queryable['rows']): Queryable['rows'] =>
    (statement, ...given) => {
      const { name } = statement
      const attributes = { ...POSTGRESQL, 'db.query.summary': name }
      return tracer.inSpan({ name, kind: 'client', attributes }, () => send(statement, ...given))
    }
  const { rows, first, run } = db
  // They take the same arguments, and what they return is passed on.
  const queryable = Object.fromEntries(
    Object.entries({ rows, first, run }).map(([key, send]) => [key, traced(send as Queryable['rows'])])
  ) as unknown as Queryable
  return {
    ...db,
    ...queryable,
    transaction: (work, options) =>
      tracer.inSpan({ name: 'transaction', kind: 'client', attributes: POSTGRESQL }, () =>
        db.transaction(work, options)
      ),
    serializedBy: key => traceDatabase(db.serializedBy(key), tracer),
    groupCommit: () => traceDatabase(db.groupCommit(), tracer)
  }
}

/** The HTTP client with a span for each request, which the receiver finds in `traceparent`. */
export const traceHttpClient = (http: HttpClient, tracer: Tracer): HttpClient => ({
  ...http,
  send: request => {
    const { method = 'GET', url, headers } = request
    // Paths and queries may contain secrets.
    const attributes = { 'http.request.method': method, 'server.address': URL.parse(url)?.host }
    return tracer.inSpan({ name: method, kind: 'client', attributes }, span =>
      http.send(
        span === undefined
          ? request
          : { ...request, headers: { ...headers, traceparent: formatTraceparent(span.context) } }
      )
    )
  }
})

/** The outbox with a trace for each run of a handler. */
export const traceOutbox = (outbox: Outbox, tracer: Tracer): Outbox => ({
  ...outbox,
  attachHandler: (name, handler) => outbox.attachHandler(name, traceHandler(name, handler, tracer))
})

function traceHandler(name: string, handler: EventOrJobHandler, tracer: Tracer): EventOrJobHandler {
  const span = { name, kind: 'consumer' } as const
  return 'runJob' in handler
    ? { ...handler, runJob: (job, signal) => tracer.inTrace(span, () => handler.runJob(job, signal)) }
    : {
        ...handler,
        handleEvents: (tx, events) => tracer.inTrace(span, () => handler.handleEvents(tx, events))
      }
}
