import { parseEmail } from '../../../kernel/email.ts'
import { derivedIdOfSameTime } from '../../../kernel/ids.ts'
import type { EventFollowUp } from '../../../platform/outbox/handlers.ts'
import type { Enqueue } from '../../../platform/outbox/outbox.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import { SMTP_CONNECTIONS_MAX } from '../settings.ts'
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
type Deps = {
  enqueue: Enqueue
  /** Sends a message that is pending in this turn, as its job does. */
  send: (message: { message_id: string; turn: number }) => Promise<void>
  locale: string
  giveUpSeconds: number
}

/** Number of the first attempt to send a message. */
const FIRST_TURN = 0

const NAME_LENGTH_MAX = 200

/** Stores messages. A job sends each of them once the transaction commits. */
export function createNotificationQueue({ enqueue, send, locale, giveUpSeconds }: Deps) {
  /** Messages that are being sent without a job. */
  let sending = 0

  const enqueueSending = (tx: Transaction, id: string) =>
    enqueue(tx, sendNotificationJob, { message_id: id, turn: FIRST_TURN }, { subject: id })

  /** Skips drafts without a valid e-mail address. */
  function rowsOf(drafts: readonly NotificationDraft[]): NewNotification[] {
    const gives_up_at = new Date(Date.now() + giveUpSeconds * 1_000)
    return drafts.flatMap(({ id, sourceId, template, channel = 'email', to, data }): NewNotification[] => {
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
    })
  }

  return {
    /** Returns the ids of the messages that are new. */
    queue: async (tx: Transaction, drafts: readonly NotificationDraft[]): Promise<string[]> => {
      const rows = rowsOf(drafts)
      if (rows.length === 0) return []
      const inserted = await tx.rows(insertNotifications, { rows: JSON.stringify(rows), isQueued: true })
      const newIds = inserted.map(({ id }) => id)
      for (const id of newIds) enqueueSending(tx, id)
      return newIds
    },
    /**
     * Stores the messages of events. Returns the work that sends a single one: until it is done, the event stays, so the message
     * needs no job. Returns `undefined` for several, and while mails are slow: then jobs send them. A message that an earlier attempt
     * has stored is sent as well, if it still waits.
     */
    queueOrSend: async (
      tx: Transaction,
      drafts: readonly NotificationDraft[]
    ): Promise<EventFollowUp | undefined> => {
      const rows = rowsOf(drafts)
      const [only, ...others] = rows
      if (only === undefined) return undefined
      const isQueued = others.length > 0 || sending >= SMTP_CONNECTIONS_MAX
      await tx.rows(insertNotifications, { rows: JSON.stringify(rows), isQueued })
      if (!isQueued)
        return async () => {
          sending += 1
          await send({ message_id: only.id, turn: FIRST_TURN }).finally(() => {
            sending -= 1
          })
        }
      for (const { id } of rows) enqueueSending(tx, id)
      return undefined
    }
  }
}
type NotificationQueue = ReturnType<typeof createNotificationQueue>
export type QueueNotifications = NotificationQueue['queue']
export type QueueOrSendNotifications = NotificationQueue['queueOrSend']

/** Removes line breaks and characters of addresses from a name, for a mail header. Returns '' for a name with a link. */
const safeName = (name: string): string =>
  linkFreeText(name.replace(/[<>"\\]+/g, ' ')).slice(0, NAME_LENGTH_MAX)
