import type { Write } from '../../../platform/idempotency/write.ts'
import type { Log } from '../../../platform/log.ts'
import type { Outbox } from '../../../platform/outbox/outbox.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { eventNotFound } from '../errors.ts'
import type { EventQuery } from './schema.ts'

type Deps = { db: Database; deliveries: Outbox['console']; log: Log }

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
    }
  }
}
export type EventService = ReturnType<typeof createEventService>
