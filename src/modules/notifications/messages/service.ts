import { parseEmail } from '../../../kernel/email.ts'
import { derivedIdOfSameTime } from '../../../kernel/ids.ts'
import type { Enqueue } from '../../../platform/outbox/outbox.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { MailTemplateName } from '../templates/definitions.ts'
import { sendNotificationJob } from './job.ts'
import { linkFreeText } from './link-free-text.ts'
import { insertNotifications, type NewNotification, type NotificationChannel } from './repository.ts'

/** A message that is not stored yet. */
export type NotificationDraft = {
  /** Id of the message. Default: derived from its source, template and recipient. */
  readonly id?: string
  /** Id of the event or request that causes the message, a UUIDv7. Each recipient gets a template once per source. */
  readonly sourceId: string
  readonly template: MailTemplateName
  readonly channel?: NotificationChannel
  readonly to: {
    readonly email: string | null
    readonly name: string | null
    readonly customerId: string | null
    readonly locale: string | null
  }
  /** Variables of the template, without secrets. */
  readonly data: Readonly<Record<string, unknown>>
}
type Deps = { enqueue: Enqueue; locale: string; giveUpSeconds: number }

const NAME_LENGTH_MAX = 200

/** Stores messages. A job sends each of them once the transaction commits. */
export function createNotificationQueue({ enqueue, locale, giveUpSeconds }: Deps) {
  /** Skips drafts without a valid e-mail address. Returns the ids of the messages that are new. */
  return async (tx: Transaction, drafts: readonly NotificationDraft[]): Promise<string[]> => {
    const gives_up_at = new Date(Date.now() + giveUpSeconds * 1_000)
    const rows = drafts.flatMap(
      ({ id, sourceId, template, channel = 'email', to, data }): NewNotification[] => {
        const recipient = to.email === null ? undefined : parseEmail(to.email)
        if (recipient === undefined) return []
        return [
          {
            id: id ?? derivedIdOfSameTime(sourceId, `${template}:${recipient}`),
            template,
            channel,
            customer_id: to.customerId,
            locale: to.locale ?? locale,
            recipient,
            recipient_name: to.name === null ? null : safeName(to.name),
            data,
            gives_up_at
          }
        ]
      }
    )
    if (rows.length === 0) return []
    const inserted = await tx.rows(insertNotifications, { rows: JSON.stringify(rows) })
    for (const { id } of inserted)
      enqueue(tx, sendNotificationJob, { message_id: id, turn: 0 }, { subject: id })
    return inserted.map(({ id }) => id)
  }
}
export type QueueNotifications = ReturnType<typeof createNotificationQueue>

/** Removes line breaks and characters of addresses from a name, for a mail header. Returns '' for a name with a link. */
const safeName = (name: string): string =>
  linkFreeText(name.replace(/[<>"\\]+/g, ' ')).slice(0, NAME_LENGTH_MAX)
