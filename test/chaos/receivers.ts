import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type MailFailure, openMailServer } from '../support/mail-server.ts'
import { CERTIFICATE, KEY } from '../support/receiver-certificate.ts'
import type { Dice } from './dice.ts'

const FAILED_SHARE = 0.05
const LOST_SHARE = 0.05

/** A received webhook. Each try has the same id and the same bytes. */
export type Webhook = { id: string; body: string }
/** A received mail. */
export type Mail = { id: string; subject: string; text: string }
/** Servers for webhooks and mails. Both store what they accepted, even if the shop did not get the response. */
export type Receivers = {
  webhookUrl: string
  /** Environment variables of a program that sends to them. */
  settings: Readonly<Record<string, string>>
  webhooks: Webhook[]
  mails(): Mail[]
  close(): Promise<void>
}

/** Starts both servers. They reject some tries, and accept some without a response. */
export async function openReceivers(dice: Dice): Promise<Receivers> {
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-chaos-receiver-'))
  const certificate = join(folder, 'receiver.pem')
  await writeFile(certificate, CERTIFICATE)
  const webhooks: Webhook[] = []
  const server = createServer({ key: KEY, cert: CERTIFICATE }, async (request, response) => {
    const parts: Buffer[] = []
    try {
      for await (const part of request) parts.push(part)
    } catch {
      return
    }
    if (dice.chance(FAILED_SHARE)) return void response.writeHead(500).end()
    webhooks.push({
      id: String(request.headers['webhook-id']),
      body: Buffer.concat(parts).toString()
    })
    // Destroying the request would leave the connection open, because it was read to its end.
    if (dice.chance(LOST_SHARE)) request.socket.destroy()
    else response.writeHead(204).end()
  })
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const mailServer = await openMailServer({ next: () => nextMailFailure(dice) })
  return {
    webhookUrl: `https://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    settings: {
      NODE_EXTRA_CA_CERTS: certificate,
      CARTWRIGHT__HTTP__PRIVATE_HOSTS: '["127.0.0.1"]',
      CARTWRIGHT__NOTIFICATIONS__SMTP__URL: mailServer.url,
      CARTWRIGHT__NOTIFICATIONS__FROM: 'shop@shop.example'
    },
    webhooks,
    mails: () =>
      mailServer.taken.map(({ messageId = '', subject = '', text = '' }) => ({
        id: messageId,
        subject,
        text
      })),
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
      await mailServer.close()
      await rm(folder, { recursive: true, force: true })
    }
  }
}

function nextMailFailure(dice: Dice): MailFailure | undefined {
  if (dice.chance(FAILED_SHARE)) return { at: 'data', code: 451, text: '4.3.0 try again later' }
  return dice.chance(LOST_SHARE) ? { at: 'data', drop: 'after' } : undefined
}
