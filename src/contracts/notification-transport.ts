import assert from 'node:assert/strict'
import { newId } from '../kernel/ids.ts'
import {
  MailSendError,
  type NotificationTransport,
  type OutgoingMessage
} from '../modules/notifications/index.ts'
import type { ContractCase } from './tender.ts'

/**
 * How the service behind a transport treats the next message. `hang`: it does not respond until `resume`.
 * @example
 * const isFinal = (failure: TransportFailure) => failure === 'permanent' || failure === 'unknown_recipient'
 */
export type TransportFailure = 'temporary' | 'permanent' | 'unknown_recipient' | 'hang'

/**
 * A transport under test, with what a test needs to control and see of the service behind it.
 * @example
 * const failOnce = (subject: NotificationTransportSubject) => subject.failNext('temporary')
 */
export type NotificationTransportSubject = {
  readonly transport: NotificationTransport
  /** The address that messages come from. */
  readonly sender: string
  failNext(failure: TransportFailure): void | Promise<void>
  /** Resolves when the service hangs with a message. */
  untilHanging(): Promise<void>
  /** Ends all hanging messages; whether they are accepted does not matter. */
  resume(): void | Promise<void>
  /** The messages that the service has accepted, in order. */
  accepted(): readonly AcceptedMessage[] | Promise<readonly AcceptedMessage[]>
}
/**
 * A message as the service has accepted it.
 * @example
 * const isWelcome = ({ subject }: AcceptedMessage) => subject === 'Welcome'
 */
export type AcceptedMessage = Pick<OutgoingMessage, 'messageId' | 'subject' | 'text' | 'html'> & {
  readonly from: string
  readonly to: string
}

/**
 * The contract of `notifications.transport`, for the tests of a provider. Run each case as a test, with a subject of its own.
 * @example
 * const register = (open: () => NotificationTransportSubject, test: (name: string, run: () => Promise<void>) => void) => {
 *   for (const { name, run } of notificationTransportContract(open)) test(name, run)
 * }
 * assert.equal(register.length, 2)
 */
export function notificationTransportContract(
  open: () => NotificationTransportSubject | Promise<NotificationTransportSubject>
): readonly ContractCase[] {
  const messageTo = (sender: string, address = `zoe-${newId()}@example.com`): OutgoingMessage => {
    const id = newId()
    return {
      channel: 'email',
      id,
      template: 'welcome',
      messageId: `<${id}@shop.example>`,
      date: new Date(),
      from: { name: 'Bücher & Co.', address: sender },
      replyTo: null,
      to: { name: 'Zoë', address },
      subject: 'Größe: für Zoë 🎁',
      text: 'Hej Zoë.\n\n.\n\nHejdå.',
      html: '<p>Hej Zoë.</p><p>.</p>',
      headers: { 'auto-submitted': 'auto-generated' }
    }
  }
  const send = (subject: NotificationTransportSubject, message: OutgoingMessage) =>
    subject.transport.send(message, AbortSignal.timeout(60_000))
  const failureOf = async (subject: NotificationTransportSubject, failure: TransportFailure) => {
    const message = messageTo(subject.sender)
    await subject.failNext(failure)
    const error = await send(subject, message).then(
      () => assert.fail(`a message with the failure ${failure} was reported as sent`),
      (reason: unknown) => reason
    )
    assert.ok(!String(error).includes(message.to.address), 'the error names the recipient')
    assert.deepEqual(await subject.accepted(), [])
    return { error, message }
  }
  const isPermanent = (error: unknown) => error instanceof MailSendError && error.isPermanent
  const isUnknownAddress = (error: unknown) => error instanceof MailSendError && error.isUnknownAddress
  const unix = (text: string) => text.replaceAll('\r\n', '\n').trimEnd()

  return [
    {
      name: 'a sent message is accepted once, with its id, sender, recipient and content',
      run: async () => {
        const subject = await open()
        const message = messageTo(subject.sender)
        await send(subject, message)
        const accepted = (await subject.accepted()).map(each => ({
          ...each,
          text: unix(each.text),
          html: unix(each.html)
        }))
        const { messageId, subject: title, text, html, to } = message
        const expected = { messageId, from: subject.sender, to: to.address, subject: title, text, html }
        assert.deepEqual(accepted, [expected])
      }
    },
    {
      name: 'a temporary failure can be retried, and the retry has the same id',
      run: async () => {
        const subject = await open()
        const { error, message } = await failureOf(subject, 'temporary')
        assert.deepEqual([isPermanent(error), isUnknownAddress(error)], [false, false])
        await send(subject, message)
        assert.deepEqual(
          (await subject.accepted()).map(({ messageId }) => messageId),
          [message.messageId]
        )
      }
    },
    {
      name: 'a permanent failure is reported as permanent, and not as an unknown address',
      run: async () => {
        const { error } = await failureOf(await open(), 'permanent')
        assert.deepEqual([isPermanent(error), isUnknownAddress(error)], [true, false])
      }
    },
    {
      name: 'an unknown recipient is reported as permanent and unknown',
      run: async () => {
        const { error } = await failureOf(await open(), 'unknown_recipient')
        assert.deepEqual([isPermanent(error), isUnknownAddress(error)], [true, true])
      }
    },
    {
      name: 'a failed message does not affect the next one, nor one that is sent simultaneously',
      run: async () => {
        const subject = await open()
        await failureOf(subject, 'permanent')
        const messages = Array.from({ length: 4 }, () => messageTo(subject.sender))
        await Promise.all(messages.map(message => send(subject, message)))
        assert.deepEqual(
          (await subject.accepted()).map(({ messageId }) => messageId).toSorted(),
          messages.map(({ messageId }) => messageId).toSorted()
        )
      }
    },
    {
      name: 'a message that hangs does not delay another one',
      run: async () => {
        const subject = await open()
        await subject.failNext('hang')
        const hanging = send(subject, messageTo(subject.sender)).then(
          () => 'sent',
          () => 'failed'
        )
        await subject.untilHanging()
        const other = messageTo(subject.sender)
        await send(subject, other)
        assert.deepEqual(
          (await subject.accepted()).map(({ messageId }) => messageId),
          [other.messageId]
        )
        await subject.resume()
        await hanging
      }
    }
  ]
}
