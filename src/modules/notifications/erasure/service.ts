import { parseEmail } from '../../../kernel/email.ts'
import type { Guest, People } from '../../../platform/people.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import * as repository from './repository.ts'

/** Nothing says any more what somebody was told who has left; what was still to be told is not. */
export const messagesOfPeople = (db: Database): People => ({
  async erase(tx, customer_id) {
    await tx.run(repository.deleteMailsOf, { customer_id })
    await tx.run(repository.deleteMessagesOf, { customer_id })
  },
  export: customer_id => db.rows(repository.listMessagesOf, { customer_id }),
  guests: {
    async erase(tx, guest) {
      await tx.run(repository.deleteMailsOfGuest, ofGuest(guest))
      await tx.run(repository.deleteMessagesOfGuest, ofGuest(guest))
    },
    export: guest => db.rows(repository.listMessagesOfGuest, ofGuest(guest))
  }
})

const ofGuest = ({ emails, orderIds }: Guest) => ({
  emails: emails.flatMap(email => parseEmail(email) ?? []),
  order_ids: orderIds
})
