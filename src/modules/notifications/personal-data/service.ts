import { parseEmail } from '../../../kernel/email.ts'
import type { GuestIdentity, PersonalData } from '../../../platform/personal-data.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import * as repository from './repository.ts'

/** Personal data in messages and mails. `erase` also deletes messages that are not sent yet. */
export const messagePersonalData = (db: Database): PersonalData => ({
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

const ofGuest = ({ emails, orderIds }: GuestIdentity) => ({
  emails: emails.flatMap(email => parseEmail(email) ?? []),
  order_ids: orderIds
})
