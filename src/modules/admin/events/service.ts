import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Log } from '../../../platform/log.ts'
import type { Outbox } from '../../../platform/outbox/outbox.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { failedEventNotFoundError } from '../errors.ts'
import type { DiscardEventsRequest, EventListQuery, RetryEventsRequest } from './schema.ts'

type Deps = { db: Database; deliveries: Outbox['console']; log: Log }

/** Maximum number of dead events and jobs that one request retries or discards. */
const DEAD_MAX = 1_000

/** Lists, retries and discards events and jobs that failed. */
export function createEventAdministration({ db, deliveries, log }: Deps) {
  return {
    list: ({ state = 'dead', ...query }: EventListQuery) => deliveries.list(state, query),

    /** Retries an event or job immediately, with 10 new attempts. @throws `ADMIN_EVENT_NOT_FOUND` */
    async retry(id: number, write: IdempotentWrite): Promise<void> {
      await write.once(db, async tx => {
        if (!(await deliveries.retry(tx, id))) throw failedEventNotFoundError()
      })
    },

    /** Deletes an event or job without its effect. Later events of the same subject continue. @throws `ADMIN_EVENT_NOT_FOUND` */
    async discard(id: number, reason: string, write: IdempotentWrite): Promise<void> {
      await write.once(db, async tx => {
        if (!(await deliveries.discard(tx, id))) throw failedEventNotFoundError()
        tx.afterCommit(() => log.warn({ id, reason }, 'event discarded'))
      })
    },

    /** Returns the backlog by handler, and the recurring jobs. */
    async summary() {
      const handlers = await deliveries.summary()
      return { handlers, schedules: await deliveries.schedules() }
    },

    /** Makes dead events and jobs due again. Returns how many dead ones are left. */
    async retryDead({ handler: only }: RetryEventsRequest, write: IdempotentWrite) {
      const handler = only ?? null
      await write.once(db, tx => deliveries.retryDead(tx, { handler, limit: DEAD_MAX }))
      return { left: await deliveries.countDead(handler) }
    },

    /** Deletes dead events and jobs without their effect. Returns how many dead ones are left. */
    async discardDead({ handler: only, reason }: DiscardEventsRequest, write: IdempotentWrite) {
      const handler = only ?? null
      await write.once(db, async tx => {
        const handlers = await deliveries.discardDead(tx, { handler, limit: DEAD_MAX })
        for (const [name, { length: count }] of Map.groupBy(handlers, each => each))
          tx.afterCommit(() => log.warn({ handler: name, count, reason }, 'events discarded'))
      })
      return { left: await deliveries.countDead(handler) }
    }
  }
}
export type EventAdministration = ReturnType<typeof createEventAdministration>
