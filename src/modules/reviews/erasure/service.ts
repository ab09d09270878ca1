import type { Queryable, Transaction } from '../../../platform/postgres/database.ts'
import { lockReviewWritesOfCustomers } from '../reviews/repository.ts'
import type { OwnReviewResponse } from '../reviews/schema.ts'
import { ownReviewView } from '../reviews/view.ts'
import * as repository from './repository.ts'

/** Personal data of a customer in reviews. */
export const reviewPersonalData = (db: Queryable) => ({
  /**
   * Keeps published reviews without their author and deletes all others. Does nothing when the customer was
   * erased before.
   */
  erase: async (tx: Transaction, customer_id: string): Promise<void> => {
    await tx.run(lockReviewWritesOfCustomers, { customer_ids: [customer_id] })
    await tx.run(repository.anonymizePublishedReviewsOfCustomer, { customer_id })
    await tx.run(repository.deleteUnpublishedReviewsOfCustomer, { customer_id })
    await tx.run(repository.deleteReviewRejectionRecordsOfCustomer, { customer_id })
  },
  /** Returns all reviews of the customer, in the form of their own API. */
  export: async (customer_id: string): Promise<OwnReviewResponse[]> =>
    (await db.rows(repository.listReviewsOfCustomer, { customer_id })).map(ownReviewView)
})
