import { parseEmail } from '../../../kernel/email.ts'
import type { GuestIdentity, PersonalDataHandler } from '../../../platform/personal-data.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import * as repository from './repository.ts'

/** Personal data in messages and mails. `erase` also deletes messages that are not sent yet. */
export const notificationPersonalData = (db: Database): PersonalDataHandler => ({
  async erase(tx, customer_id) {
    await tx.run(repository.deleteMailboxMailsOfCustomer, { customer_id })
    await tx.run(repository.deleteNotificationsOfCustomer, { customer_id })
  },
  export: customer_id => db.rows(repository.listNotificationsOfCustomer, { customer_id }),
  guests: {
    async erase(tx, guest) {
      await tx.run(repository.deleteMailboxMailsOfGuest, ofGuest(guest))
      await tx.run(repository.deleteNotificationsOfGuest, ofGuest(guest))
    },
    export: guest => db.rows(repository.listNotificationsOfGuest, ofGuest(guest))
  }
})

const ofGuest = ({ emails, orderIds }: GuestIdentity) => ({
  emails: emails.flatMap(email => parseEmail(email) ?? []),
  order_ids: orderIds
})
