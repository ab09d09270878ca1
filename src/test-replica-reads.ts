import { AsyncLocalStorage } from 'node:async_hooks'
import type { EventOrJobHandler } from './platform/outbox/handlers.ts'
import type { Outbox } from './platform/outbox/outbox.ts'
import type { Database, Queryable } from './platform/postgres/database.ts'
import type { Timers } from './platform/timers.ts'

/** One request, run of a handler or run of a timer, and its slow reads that a replica may answer. */
type Deed = { readonly name: string; readonly reads: Set<string> }

/** Writes that rows of a replica do not decide, by the beginning of their statement's name. */
const UNDECIDED = [
  // They record the request.
  'audit.',
  'idempotency.',
  // It stores the sums that were read, as a cache.
  'admin.upsert_day'
]

/**
 * Watches the database of a shop in a test, and finds slow reads that a replica may answer and that a write follows in the same
 * request or run: their rows may decide it, so they must be `primaryOnly`. Reads of transactions never use a replica.
 */
export function createReplicaReadCheck() {
  const deeds = new AsyncLocalStorage<Deed>()
  const found = new Set<string>()

  const inDeed = <T>(name: string, work: () => T): T => deeds.run({ name, reads: new Set() }, work)
  function noteWrite(name: string): void {
    const deed = deeds.getStore()
    if (deed === undefined || UNDECIDED.some(each => name.startsWith(each))) return
    for (const read of deed.reads) found.add(`${deed.name} reads ${read}, and writes afterwards (${name})`)
  }
  const watch =
    (send: Queryable['rows']): Queryable['rows'] =>
    (statement, ...given) => {
      const { name, isSlow, isPrimaryOnly, mayLock } = statement
      if (isSlow && !isPrimaryOnly) deeds.getStore()?.reads.add(name)
      if (mayLock) noteWrite(name)
      return send(statement, ...given)
    }

  function watchDatabase(db: Database): Database {
    const { rows, first, run } = db
    // They take the same arguments, and what they return is passed on.
    const queryable = Object.fromEntries(
      Object.entries({ rows, first, run }).map(([key, send]) => [key, watch(send as Queryable['rows'])])
    ) as unknown as Queryable
    return {
      ...db,
      ...queryable,
      transaction: (work, options) => {
        noteWrite('a transaction')
        return db.transaction(work, options)
      },
      serializedBy: key => watchDatabase(db.serializedBy(key)),
      groupCommit: () => watchDatabase(db.groupCommit())
    }
  }
  const watchHandler = (name: string, handler: EventOrJobHandler): EventOrJobHandler =>
    'runJob' in handler
      ? { ...handler, runJob: (job, signal) => inDeed(name, () => handler.runJob(job, signal)) }
      : {
          ...handler,
          handleEvents: (tx, events) =>
            inDeed(name, async () => {
              const followUp = await handler.handleEvents(tx, events)
              return followUp ? (signal: AbortSignal) => inDeed(name, () => followUp(signal)) : undefined
            })
        }

  return {
    inDeed,
    watch: <P extends { db: Database; outbox: Outbox; timers: Timers }>(platform: P): P => {
      const { db, outbox, timers } = platform
      return {
        ...platform,
        db: watchDatabase(db),
        outbox: {
          ...outbox,
          attachHandler: (name, handler) => outbox.attachHandler(name, watchHandler(name, handler))
        },
        timers: {
          ...timers,
          every: (seconds, name, work) =>
            timers.every(seconds, name, signal => inDeed(name, () => work(signal))),
          untilEmpty: (seconds, name, work) => timers.untilEmpty(seconds, name, () => inDeed(name, work))
        }
      }
    },
    /** @throws Error for reads that must be `primaryOnly`. */
    assertNone: (): void => {
      if (found.size > 0)
        throw new Error(
          `A replica may answer reads that decide a write. Declare the statement with primaryOnly: true, or read it in the transaction.\n${[...found].join('\n')}`
        )
    }
  }
}
