import { AsyncLocalStorage } from 'node:async_hooks'
import type { RunningEventLog } from '../event-log/event-log.ts'
import type { HttpClient } from '../http/client.ts'
import type { EventOrJobHandler } from '../outbox/handlers.ts'
import type { Outbox } from '../outbox/outbox.ts'
import type { Database, Queryable } from '../postgres/database.ts'
import type { StoredTraces } from './stored-traces.ts'
import { formatTraceparent } from './trace-context.ts'
import type { Span, Tracer } from './tracer.ts'

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
        // Bound, because a group commit runs the work of all its callers in the context of the first.
        db.transaction(AsyncLocalStorage.bind(work), options)
      ),
    serializedBy: key => traceDatabase(db.serializedBy(key), tracer),
    groupCommit: () => traceDatabase(db.groupCommit(), tracer)
  }
}

/** The HTTP client with a span for each request, which the receiver finds in `traceparent`. */
export const traceHttpClient = (
  http: HttpClient,
  tracer: Tracer,
  traces: Pick<StoredTraces, 'find'>
): HttpClient => ({
  ...http,
  send: async request => {
    const { method = 'GET', url, headers, cause } = request
    const send = (span?: Span) =>
      http.send(
        span === undefined
          ? request
          : { ...request, headers: { ...headers, traceparent: formatTraceparent(span.context) } }
      )
    // Paths and queries may contain secrets.
    const attributes = { 'http.request.method': method, 'server.address': URL.parse(url)?.host }
    const span = { name: cause?.name ?? method, kind: 'client', attributes } as const
    if (cause === undefined) return tracer.inSpan(span, send)
    return tracer.inTrace(span, send, (await traces.find([cause.eventId])).get(cause.eventId))
  }
})

/** The outbox with a span for each run of a handler, below what caused the event or the job. */
export const traceOutbox = (outbox: Outbox, tracer: Tracer, traces: Pick<StoredTraces, 'find'>): Outbox => ({
  ...outbox,
  attachHandler: (name, handler) => outbox.attachHandler(name, traceHandler(name, handler, tracer, traces))
})

function traceHandler(
  name: string,
  handler: EventOrJobHandler,
  tracer: Tracer,
  traces: Pick<StoredTraces, 'find'>
): EventOrJobHandler {
  const span = { name, kind: 'consumer' } as const
  if ('runJob' in handler)
    return {
      ...handler,
      runJob: async (job, signal) =>
        tracer.inTrace(span, () => handler.runJob(job, signal), (await traces.find([job.id])).get(job.id))
    }
  return {
    ...handler,
    handleEvents: async (tx, events) => {
      const causes = await traces.find(events.map(({ id }) => id))
      // Events that are handled together share the work. Each of their traces gets a span, and the first one the statements.
      const spans = new Map<string, Span | undefined>()
      for (const cause of causes.values())
        if (!spans.has(cause.traceId)) spans.set(cause.traceId, tracer.begin(span, cause))
      const [first] = spans.values()
      const handle = async () => {
        const followUp = await handler.handleEvents(tx, events)
        const parent = tracer.current()?.context
        if (!followUp || parent === undefined) return followUp ?? undefined
        // It runs after the commit, and after the span of the handler.
        const later = { name: `${name} follow-up`, kind: 'consumer' } as const
        return (signal: AbortSignal) => tracer.inTrace(later, () => followUp(signal), parent)
      }
      if (first === undefined) return tracer.inTrace(span, handle)
      const contexts = new Map(
        events.map(({ id, subject }) => [subject, spans.get(causes.get(id)?.traceId ?? '')?.context])
      )
      const contextOf = (subject: string) => (contexts.has(subject) ? contexts.get(subject) : first.context)
      let hasFailed = true
      try {
        const followUp = await tracer.run({ ...first, contextOf }, handle)
        hasFailed = false
        return followUp
      } finally {
        for (const each of spans.values()) each?.end({ hasFailed })
      }
    }
  }
}

/** The reader of the event log with the trace of each event. */
export const traceEventLog = (
  eventLog: RunningEventLog,
  traces: Pick<StoredTraces, 'find'>
): RunningEventLog => ({
  ...eventLog,
  read: async query => {
    const page = await eventLog.read(query)
    const causes = await traces.find(page.items.map(({ event_id }) => event_id))
    const items = page.items.map(item => {
      const cause = causes.get(item.event_id)
      return cause === undefined ? item : { ...item, traceparent: formatTraceparent(cause) }
    })
    return { ...page, items }
  }
})
