import { lowestIdAt } from '../../kernel/ids.ts'
import { keptForDays } from '../../kernel/retention.ts'
import type { Database, Transaction } from '../postgres/database.ts'
import type { Timers } from '../timers.ts'
import { deleteOldTraces, findTraces, insertTraces } from './queries.ts'
import { formatTraceparent, parseTraceparent, type TraceContext } from './trace-context.ts'
import type { Tracer } from './tracer.ts'

/** Events and jobs that are handled later begin a trace of their own. Longer than the retries of a webhook. */
const KEPT_DAYS = 7
const DELETE_SECONDS = 3_600
const ROWS_PER_DELETE_MAX = 10_000

type Deps = {
  db: Pick<Database, 'rows' | 'run'>
  tracer: Pick<Tracer, 'current'>
  timers: Pick<Timers, 'untilEmpty'>
}
/** An event or a job that is written, and the trace that causes it. */
type CausedMessage = { readonly eventId: string; readonly traceparent?: string | undefined }

/** The traces that cause events and jobs, so that what handles them later belongs to the same trace. */
export function createStoredTraces({ db, tracer, timers }: Deps) {
  timers.untilEmpty(DELETE_SECONDS, 'delete old traces', () =>
    db.run(deleteOldTraces, {
      before: lowestIdAt(keptForDays(KEPT_DAYS)(new Date())),
      limit: ROWS_PER_DELETE_MAX
    })
  )
  return {
    current: (subject: string): string | undefined => {
      const span = tracer.current()
      const context = span?.contextOf === undefined ? span?.context : span.contextOf(subject)
      return context && formatTraceparent(context)
    },
    store: async (tx: Transaction, messages: readonly CausedMessage[]): Promise<void> => {
      const caused = messages.flatMap(({ eventId, traceparent }) =>
        traceparent === undefined ? [] : { eventId, traceparent }
      )
      if (caused.length === 0) return
      await tx.run(insertTraces, {
        eventIds: caused.map(({ eventId }) => eventId),
        traceparents: caused.map(({ traceparent }) => traceparent)
      })
    },
    /** Returns the traces of these events and jobs by their ids; none when the database does not answer. */
    find: async (eventIds: readonly string[]): Promise<ReadonlyMap<string, TraceContext>> => {
      const rows = eventIds.length === 0 ? [] : await db.rows(findTraces, { eventIds }).catch(() => [])
      return new Map(
        rows.flatMap(({ event_id, traceparent }) => {
          const cause = parseTraceparent(traceparent)
          return cause === undefined ? [] : [[event_id, cause]]
        })
      )
    }
  }
}
export type StoredTraces = ReturnType<typeof createStoredTraces>
