import type { Delivery } from '../../../kernel/events.ts'
import type { Log } from '../../../platform/log.ts'
import type { Enqueue } from '../../../platform/outbox/outbox.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { sendMessage } from '../messages/job.ts'
import type { MessageStatus, TurnRow } from '../messages/repository.ts'
import * as repository from '../messages/repository.ts'
import type { Suppressions } from '../suppressions/service.ts'
import { TemplateFault } from '../templates/engine.ts'
import { SendFailure, type Transport } from '../transport/port.ts'
import { isOptional, type WriteContent } from './content.ts'
import { pauseSeconds } from './pause.ts'

type Deps = {
  db: Database
  log: Log
  enqueue: Enqueue
  transport: Transport
  /** Of the address that mails come from. */
  domain: string
  write: WriteContent
  suppressions: Pick<Suppressions, 'find' | 'forgetBounces' | 'add'>
  count: (result: 'sent' | 'failed' | 'dead' | 'suppressed' | 'skipped') => void
}
type Turn = { readonly message_id: string; readonly turn: number }
type Outcome = {
  readonly status: Extract<MessageStatus, 'sent' | 'skipped' | 'suppressed'>
  readonly error: string | null
}

/**
 * Sends messages. One that the server took and that could not be noted is sent again, with the same Message-ID: whoever
 * reads it sees one mail, and none is lost.
 */
export function createDelivery({ db, log, enqueue, transport, domain, write, suppressions, count }: Deps) {
  async function deliver(message: TurnRow): Promise<Outcome> {
    const { recipient } = message
    if (recipient === null) return { status: 'skipped', error: 'who it was for is not known any more' }
    const { reason, hasBounced } = await suppressions.find(recipient, isOptional(message.template))
    if (reason !== undefined) return { status: 'suppressed', error: reason }
    const content = await write(message, recipient)
    if (content === undefined)
      return { status: 'skipped', error: 'what it was to prove was used, superseded, or has expired' }
    const { subject, text, html, fault, unsubscribeUrl } = content
    if (message.channel === 'log') log.info({ message: message.id, template: message.template }, 'a message')
    else {
      await transport.send({
        ...{ subject, text, html, id: message.id, template: message.template, date: message.created_at },
        messageId: `<${message.id}@${domain}>`,
        to: { name: message.recipient_name ?? '', address: recipient },
        headers: headersOf(unsubscribeUrl)
      })
      if (hasBounced) await suppressions.forgetBounces(recipient)
    }
    return { status: 'sent', error: fault }
  }

  /** Tried again later, or never. What else fails is the database's fault, and the whole try is. */
  async function fail(message: TurnRow, { message_id: id, turn }: Turn, error: unknown): Promise<void> {
    if (!(error instanceof SendFailure || error instanceof TemplateFault)) throw error
    if (error instanceof SendFailure && error.isUnknownAddress && message.recipient !== null)
      await suppressions.add(db, message.recipient, 'bounced')
    const isOver = error instanceof TemplateFault || error.isPermanent || message.is_last
    if (isOver) {
      await db.run(repository.settleMessage, { id, turn, status: 'dead', error: error.message })
      log.warn({ message: id, template: message.template, reason: error.message }, 'a mail is not sent')
      return count('dead')
    }
    const seconds = pauseSeconds(message.attempts + 1, Math.random())
    await db.transaction(async tx => {
      const done = await tx.run(repository.putOffMessage, { id, turn, error: error.message, seconds })
      if (done === 0) return
      enqueue(
        tx,
        sendMessage,
        { message_id: id, turn: turn + 1 },
        { subject: id, delaySeconds: Math.ceil(seconds) }
      )
    })
    count('failed')
  }

  return async ({ payload }: Delivery<Turn>): Promise<void> => {
    const { message_id: id, turn } = payload
    const message = await db.first(repository.findTurn, { id, turn })
    // It was canceled, or an earlier try was noted, and its process ended before it could say so.
    if (message === undefined) return
    let outcome: Outcome
    try {
      outcome = await deliver(message)
    } catch (error) {
      return fail(message, payload, error)
    }
    await db.run(repository.settleMessage, { id, turn, ...outcome })
    count(outcome.status)
  }
}

/** Nobody's program is to answer it; where somebody may not want it, one click says so (RFC 8058). */
const headersOf = (unsubscribeUrl: string): Readonly<Record<string, string>> => ({
  'auto-submitted': 'auto-generated',
  ...(unsubscribeUrl !== '' && {
    'list-unsubscribe': `<${unsubscribeUrl}>`,
    'list-unsubscribe-post': 'List-Unsubscribe=One-Click'
  })
})
