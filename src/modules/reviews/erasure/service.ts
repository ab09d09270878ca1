import type { Queryable, Transaction } from '../../../platform/postgres/database.ts'
import { lockCustomers } from '../reviews/repository.ts'
import type { OwnReviewResponse } from '../reviews/schema.ts'
import { presentOwn } from '../reviews/view.ts'
import * as repository from './repository.ts'

/** What reviews keep of somebody. */
export const reviewsOfPeople = (db: Queryable) => ({
  /**
   * Somebody has left: what others read of theirs stays, by nobody; what nobody read is gone. Whoever has left already has
   * nothing that could be forgotten.
   */
  erase: async (tx: Transaction, customer_id: string): Promise<void> => {
    await tx.run(lockCustomers, { customer_ids: [customer_id] })
    await tx.run(repository.anonymise, { customer_id })
    await tx.run(repository.deleteUnpublished, { customer_id })
    await tx.run(repository.deleteTurnedDown, { customer_id })
  },
  /** All that they have written, as they see it themselves. */
  export: async (customer_id: string): Promise<OwnReviewResponse[]> =>
    (await db.rows(repository.listOfCustomer, { customer_id })).map(presentOwn)
})
