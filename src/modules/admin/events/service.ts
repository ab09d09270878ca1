import type { Write } from '../../../platform/idempotency/write.ts'
import type { Log } from '../../../platform/log.ts'
import type { Outbox } from '../../../platform/outbox/outbox.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { eventNotFound } from '../errors.ts'
import type { DiscardEventsRequest, EventQuery, RetryEventsRequest } from './schema.ts'

type Deps = { db: Database; deliveries: Outbox['console']; log: Log }

/** So many are taken at a time. */
const DEAD_MAX = 1_000

/** Events and jobs that could not be handled. */
export function createEventService({ db, deliveries, log }: Deps) {
  return {
    /** The oldest first. */
    list: ({ state = 'dead', ...query }: EventQuery) => deliveries.list(state, query),

    /** Has it tried again soon, 10 times at most. @throws `ADMIN_EVENT_NOT_FOUND` */
    async retry(id: number, write: Write): Promise<void> {
      await write.once(db, async tx => {
        if (!(await deliveries.retry(tx, id))) throw eventNotFound()
      })
    },

    /** Its effect never happens, and what waits behind it goes on. @throws `ADMIN_EVENT_NOT_FOUND` */
    async discard(id: number, reason: string, write: Write): Promise<void> {
      await write.once(db, async tx => {
        if (!(await deliveries.discard(tx, id))) throw eventNotFound()
        tx.afterCommit(() => log.warn({ id, reason }, 'event discarded'))
      })
    },

    /** What there is to do, and what is done again and again. */
    async summary() {
      const handlers = await deliveries.summary()
      return { handlers, schedules: await deliveries.schedules() }
    },

    /** Has those that are dead tried again soon, so many at a time. */
    async retryDead({ handler: only }: RetryEventsRequest, write: Write) {
      const handler = only ?? null
      await write.once(db, tx => deliveries.retryDead(tx, { handler, limit: DEAD_MAX }))
      return { left: await deliveries.countDead(handler) }
    },

    /** The effects of those that are dead never happen, so many at a time. */
    async discardDead({ handler: only, reason }: DiscardEventsRequest, write: Write) {
      const handler = only ?? null
      await write.once(db, async tx => {
        const gone = await deliveries.discardDead(tx, { handler, limit: DEAD_MAX })
        for (const [name, { length: count }] of Map.groupBy(gone, each => each))
          tx.afterCommit(() => log.warn({ handler: name, count, reason }, 'events discarded'))
      })
      return { left: await deliveries.countDead(handler) }
    }
  }
}
export type EventService = ReturnType<typeof createEventService>
