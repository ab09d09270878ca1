import { expect, onTestFinished, test } from 'vitest'
import { type MailFailure, openMailServer } from '../../../../test/support/mail-server.ts'
import { notificationTransportContract, type TransportFailure } from '../../../testing.ts'
import { createSmtpTransport } from './smtp.ts'

const FAILURES: Readonly<Record<TransportFailure, MailFailure>> = {
  temporary: { at: 'data', code: 451, text: '4.3.0 try again later' },
  permanent: { at: 'data', code: 554, text: '5.7.1 refused' },
  unknown_recipient: { at: 'rcpt', code: 550, text: '5.1.1 no such user' },
  hang: { at: 'data', hang: true }
}

async function openSmtp() {
  const server = await openMailServer({})
  const transport = createSmtpTransport({ url: server.url, connections: 2, timeoutSeconds: 20 })
  onTestFinished(async () => {
    await transport.close()
    await server.close()
  })
  return {
    transport,
    sender: 'shop@shop.example',
    failNext: (failure: TransportFailure) => void server.failures.push(FAILURES[failure]),
    untilHanging: async () => {
      await expect.poll(server.hanging, { timeout: 60_000 }).toBe(1)
    },
    resume: server.hangUp,
    accepted: () =>
      server.taken.map(({ messageId = '', subject = '', text = '', html = '', from, recipient }) => ({
        messageId,
        subject,
        text,
        html,
        from: String(from?.address),
        to: recipient
      }))
  }
}

for (const { name, run } of notificationTransportContract(openSmtp)) test(`SMTP: ${name}`, run)
