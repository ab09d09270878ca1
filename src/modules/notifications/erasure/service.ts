import type { People } from '../../../platform/people.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { deleteMailsOf, deleteMessagesOf, listMessagesOf } from './repository.ts'

/** Nothing says any more what somebody was told who has left; what was still to be told is not. */
export const messagesOfPeople = (db: Database): People => ({
  async erase(tx, customer_id) {
    await tx.run(deleteMailsOf, { customer_id })
    await tx.run(deleteMessagesOf, { customer_id })
  },
  export: customer_id => db.rows(listMessagesOf, { customer_id })
})
