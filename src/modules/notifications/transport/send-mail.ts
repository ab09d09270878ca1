import { callWithTimeout } from '../../../kernel/call-with-timeout.ts'
import { emailDomain, parseEmail } from '../../../kernel/email.ts'
import type { PortReader } from '../../../kernel/ports.ts'
import type { NotificationsSettings } from '../settings.ts'
import { notificationTransportPort } from './port.ts'
import { MailSendError, type OutgoingMail } from './transport.ts'

type Deps = {
  ports: PortReader
  /** The name of the transport. */
  name: string
  shopName: string
  settings: Pick<NotificationsSettings, 'from' | 'reply_to'>
}

const DEFAULT_SENDER = 'shop@localhost'
/** Shorter than the timeout of the job, so that a hanging transport is recorded as a failed attempt. */
const SEND_TIMEOUT_MS = 100_000
const REASON_LENGTH_MAX = 500

/** Sends mails by the transport with this name. */
export function createMailSender({ ports, name, shopName, settings }: Deps) {
  const from = { name: shopName, address: parseEmail(settings.from) ?? DEFAULT_SENDER }
  const replyTo = parseEmail(settings.reply_to) ?? null
  const transports = () => ports.all(notificationTransportPort)
  const selected = () => transports().find(each => each.name === name)?.provider

  return {
    /** The domain of `Message-ID`. */
    domain: emailDomain(from.address),
    /** Returns why no mail could be sent, as a sentence. Empty when a module provides the transport. */
    findProblems: (): string[] => {
      if (selected() !== undefined) return []
      const names = transports().map(each => each.name)
      return [
        `notifications.transport is ${name}, which no enabled module provides: set it to ${names.join(' or ')}, or enable the module that provides ${name}`
      ]
    },
    /** Resolves when the transport has accepted the mail. @throws MailSendError */
    send: async (mail: OutgoingMail): Promise<void> => {
      const transport = selected()
      if (transport === undefined) throw new MailSendError(`no module provides the transport ${name}`)
      try {
        await callWithTimeout(SEND_TIMEOUT_MS, signal =>
          transport.send({ ...mail, channel: 'email', from, replyTo }, signal)
        )
      } catch (error) {
        throw error instanceof MailSendError ? error : temporaryFailure(error, mail.to.address)
      }
    }
  }
}
export type MailSender = ReturnType<typeof createMailSender>

/** Errors of other modules may name the recipient, whose address is not stored with the error. */
const temporaryFailure = (error: unknown, address: string): MailSendError =>
  new MailSendError(String(error).replaceAll(address, '<recipient>').slice(0, REASON_LENGTH_MAX))
