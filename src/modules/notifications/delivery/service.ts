import type { Log } from '../../../platform/log.ts'
import type { Enqueue } from '../../../platform/outbox/outbox.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { sendNotificationJob } from '../messages/job.ts'
import type { DueNotificationRow, NotificationStatus } from '../messages/repository.ts'
import * as repository from '../messages/repository.ts'
import type { SuppressionList } from '../suppressions/service.ts'
import { MailTemplateFaultError } from '../templates/liquid-engine.ts'
import type { MailSender } from '../transport/send-mail.ts'
import { MailSendError } from '../transport/transport.ts'
import { isUnsubscribableMailTemplate, type RenderMailContent } from './content.ts'

type Deps = {
  db: Database
  log: Log
  enqueue: Enqueue
  mails: Pick<MailSender, 'send' | 'domain'>
  renderContent: RenderMailContent
  suppressions: Pick<SuppressionList, 'check' | 'clearBounces' | 'add'>
  count: (result: 'sent' | 'failed' | 'dead' | 'suppressed' | 'skipped') => void
}
type SendPayload = { readonly message_id: string; readonly turn: number }
type Outcome = {
  readonly status: Extract<NotificationStatus, 'sent' | 'skipped' | 'suppressed'>
  readonly error: string | null
}

const FIRST_RETRY_SECONDS = 5
const RETRY_GROWTH = 3
/** RFC 5321, section 4.5.4.1, recommends retries at least 30 minutes apart. */
const RETRY_SECONDS_MAX = 1_800
/** Share of the delay that is added or subtracted at random, so that mails that failed together retry at different times. */
const RETRY_SPREAD = 0.5

/** Seconds until the next attempt, after this number of failed ones. `random` is from 0 to 1. */
export function mailRetryDelaySeconds(failedAttempts: number, random: number): number {
  const seconds = Math.min(
    FIRST_RETRY_SECONDS * RETRY_GROWTH ** Math.min(failedAttempts - 1, 20),
    RETRY_SECONDS_MAX
  )
  return seconds * (1 - RETRY_SPREAD + 2 * RETRY_SPREAD * random)
}

/**
 * Returns the function that sends one message. The process may end after the mail server accepted a mail and
 * before the outcome is stored. Then the mail is sent again with the same Message-ID. Mail programs show it once.
 */
export function createNotificationSender({
  db,
  log,
  enqueue,
  mails,
  renderContent,
  suppressions,
  count
}: Deps) {
  async function deliver(message: DueNotificationRow): Promise<Outcome> {
    const { recipient } = message
    if (recipient === null) return { status: 'skipped', error: 'the recipient was erased' }
    const { reason, hasBounced } = await suppressions.check(
      recipient,
      isUnsubscribableMailTemplate(message.template)
    )
    if (reason !== undefined) return { status: 'suppressed', error: reason }
    const content = await renderContent(message, recipient)
    if (content === undefined)
      return { status: 'skipped', error: 'the link was used or superseded, or has expired' }
    const { subject, text, html, fault, unsubscribeUrl } = content
    if (message.channel === 'log') log.info({ message: message.id, template: message.template }, 'a message')
    else {
      await mails.send({
        id: message.id,
        template: message.template,
        date: message.created_at,
        subject,
        text,
        html,
        messageId: `<${message.id}@${mails.domain}>`,
        to: { name: message.recipient_name ?? '', address: recipient },
        headers: headersOf(unsubscribeUrl)
      })
      if (hasBounced) await suppressions.clearBounces(recipient)
    }
    return { status: 'sent', error: fault }
  }

  /** Schedules a retry, or marks the message as dead. Rethrows other errors, such as those of the database. */
  async function handleFailure(
    message: DueNotificationRow,
    { message_id: id, turn }: SendPayload,
    error: unknown
  ): Promise<void> {
    if (!(error instanceof MailSendError || error instanceof MailTemplateFaultError)) throw error
    if (error instanceof MailSendError && error.isUnknownAddress && message.recipient !== null)
      await suppressions.add(db, message.recipient, 'bounced')
    const isFinal = error instanceof MailTemplateFaultError || error.isPermanent || message.is_last
    if (isFinal) {
      await db.run(repository.recordFinalNotificationStatus, {
        id,
        turn,
        status: 'dead',
        error: error.message
      })
      log.warn({ message: id, template: message.template, reason: error.message }, 'a mail is not sent')
      return count('dead')
    }
    const seconds = mailRetryDelaySeconds(message.attempts + 1, Math.random())
    await db.transaction(async tx => {
      const updated = await tx.run(repository.scheduleNotificationRetry, {
        id,
        turn,
        error: error.message,
        seconds
      })
      if (updated === 0) return
      enqueue(
        tx,
        sendNotificationJob,
        { message_id: id, turn: turn + 1 },
        { subject: id, delaySeconds: Math.ceil(seconds) }
      )
    })
    count('failed')
  }

  return async (payload: SendPayload): Promise<void> => {
    const { message_id: id, turn } = payload
    const message = await db.first(repository.findPendingNotificationOfTurn, { id, turn })
    // The message is absent when it was canceled, or when a process ended after storing the outcome and
    // before finishing the job.
    if (message === undefined) return
    let outcome: Outcome
    try {
      outcome = await deliver(message)
    } catch (error) {
      return handleFailure(message, payload, error)
    }
    await db.run(repository.recordFinalNotificationStatus, { id, turn, ...outcome })
    count(outcome.status)
  }
}

/** Marks the mail as automatic, so that no program replies (RFC 3834), and offers one-click unsubscribe (RFC 8058). */
const headersOf = (unsubscribeUrl: string): Readonly<Record<string, string>> => ({
  'auto-submitted': 'auto-generated',
  ...(unsubscribeUrl !== '' && {
    'list-unsubscribe': `<${unsubscribeUrl}>`,
    'list-unsubscribe-post': 'List-Unsubscribe=One-Click'
  })
})
