import { LOWEST_ID } from '../../../kernel/ids.ts'
import { newestFirst, type Page, readPage } from '../../../kernel/pages.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { quarantinedPaymentEventNotFoundError } from '../errors.ts'
import * as repository from './repository.ts'
import type { PaymentProviderEventQuery } from './schema.ts'

type Deps = { db: Database; wake: (tx: Transaction, id: string) => void }

/** Quarantined provider events, which an administrator retries or discards. */
export function createPaymentEventQuarantineService({ db, wake }: Deps) {
  async function decide(tx: Transaction, id: string, state: 'received' | 'discarded', reason: string | null) {
    if ((await tx.first(repository.releaseProviderEventFromQuarantine, { id, state, reason })) === undefined)
      throw quarantinedPaymentEventNotFoundError()
  }

  return {
    /** Lists events of a state, oldest first. */
    list: ({
      state = 'quarantined',
      ...query
    }: PaymentProviderEventQuery): Promise<Page<repository.PaymentProviderEventRow>> =>
      readPage(query, {
        name: 'payment events',
        filters: state,
        start: { after: LOWEST_ID },
        placeOf: newestFirst.placeOf,
        rows: place => db.rows(repository.listProviderEvents, { state, ...place }),
        total: () => db.first(repository.countProviderEventsInState, { state })
      }),
    /** Applies an event again, as if it arrived now. @throws `PAYMENT_EVENT_NOT_FOUND` */
    retry: async (id: string, write: IdempotentWrite): Promise<void> => {
      await write.once(db, async tx => {
        await decide(tx, id, 'received', null)
        wake(tx, id)
      })
    },
    /** @throws `PAYMENT_EVENT_NOT_FOUND` */
    discard: async (id: string, reason: string, write: IdempotentWrite): Promise<void> => {
      await write.once(db, tx => decide(tx, id, 'discarded', reason))
    }
  }
}
export type PaymentEventQuarantineService = ReturnType<typeof createPaymentEventQuarantineService>
