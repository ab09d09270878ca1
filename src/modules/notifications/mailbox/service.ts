import { isId } from '../../../kernel/ids.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { Mail } from '../transport/port.ts'
import * as repository from './repository.ts'

const LISTED_MAX = 200

/** Mails of a shop in development: kept, with the links that they hold, to be looked at. */
export function createMailbox({ db, mailsMax }: { db: Database; mailsMax: number }) {
  return {
    keep: async (mail: Mail, sender: string): Promise<void> => {
      await db.run(repository.keepMail, {
        ...{ id: mail.id, message_id: mail.messageId, template: mail.template, sender },
        ...{ recipient: mail.to.address, subject: mail.subject, headers: mail.headers },
        ...{ body_text: mail.text, body_html: mail.html }
      })
    },
    sweep: () => db.run(repository.deleteOldMails, { kept: mailsMax }),
    /** The newest first; those to one address, when it is named. */
    list: (recipient: string | null) => db.rows(repository.listMails, { recipient, limit: LISTED_MAX }),
    find: async (id: string) => (isId(id) ? db.first(repository.findMail, { id }) : undefined)
  }
}
export type MailboxService = ReturnType<typeof createMailbox>
