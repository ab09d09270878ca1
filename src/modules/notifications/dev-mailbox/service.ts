import { isId } from '../../../kernel/ids.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { OutgoingMessage } from '../transport/port.ts'
import * as repository from './repository.ts'

const LISTED_MAX = 200

/** Stores the mails of a shop in development, with their links, so that developers see them at /mails. */
export function createDevMailbox({ db, mailsMax }: { db: Database; mailsMax: number }) {
  return {
    save: async (mail: OutgoingMessage): Promise<void> => {
      await db.run(repository.saveMailboxMail, {
        id: mail.id,
        message_id: mail.messageId,
        template: mail.template,
        sender: mail.from.address,
        recipient: mail.to.address,
        subject: mail.subject,
        headers: mail.headers,
        body_text: mail.text,
        body_html: mail.html
      })
    },
    /** Deletes the oldest mails beyond the limit. */
    deleteOld: () => db.run(repository.deleteOldMailboxMails, { mailsMax }),
    /** Newest first. `recipient`: only mails to this address. */
    list: (recipient: string | null) =>
      db.rows(repository.listMailboxMails, { recipient, limit: LISTED_MAX }),
    find: async (id: string) => (isId(id) ? db.first(repository.findMailboxMail, { id }) : undefined)
  }
}
export type DevMailbox = ReturnType<typeof createDevMailbox>
