import { definePort } from '../../../kernel/ports.ts'
import type { MailAddress, OutgoingMail } from './transport.ts'

/**
 * A message to one recipient. E-mail is the only channel.
 * @example
 * const lineOf = ({ to, subject }: OutgoingMessage) => `${to.address}: ${subject}`
 */
export type OutgoingMessage = OutgoingMail & {
  readonly channel: 'email'
  /** The name of the shop, and `notifications.from`. */
  readonly from: MailAddress
  /** `notifications.reply_to`. Null: replies go to the sender. */
  readonly replyTo: string | null
}

/**
 * Sends messages: a mail server, or the API of a mail service.
 * @example
 * const sent: string[] = []
 * const transport: NotificationTransport = { send: async ({ messageId }) => void sent.push(messageId) }
 */
export type NotificationTransport = {
  /**
   * Resolves when the service has accepted the message, and rejects otherwise. A `MailSendError` says whether a retry can succeed,
   * and whether the address exists; unknown addresses get no more mails. Any other error is temporary, and is retried with
   * growing pauses. It runs in a job without a transaction, simultaneously for several messages. It has 100 seconds: then `signal`
   * is aborted, and the message is retried. A retry has the same `messageId`, because the service may have accepted the
   * message before.
   */
  send(message: OutgoingMessage, signal: AbortSignal): Promise<void>
}

/** Providers of transports. The setting `notifications.transport` names the one that is used. */
export const notificationTransportPort = definePort<NotificationTransport>('notifications.transport', {
  description: 'Sends a message by a channel, such as e-mail.',
  providers: 'many'
})
