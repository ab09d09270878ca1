import { expect, test } from 'vitest'
import { useShop } from '../../../../test/support/use-shop.ts'
import { newId } from '../../../kernel/ids.ts'
import { notificationsModule } from '../index.ts'
import type { OutgoingMail } from '../transport/transport.ts'
import { createUnstoredMailSender } from './unstored.ts'

test('a mail of another module reaches the mailbox, and no message is stored', async () => {
  const shop = await useShop({ modules: [notificationsModule] })
  const api = shop.apiOf(notificationsModule)
  const mail = {
    id: newId(),
    kind: 'gift_cards.code',
    to: { email: 'Ada@example.com', name: 'Ada\r\nBcc: eve@example.com' },
    subject: 'Your\ngift card',
    text: 'The code is <7K2M>.\n\nKeep it.'
  }
  expect(await api?.send(mail)).toBe(true)
  expect(await api?.send({ ...mail, to: { email: 'no address', name: null } })).toBe(false)
  const [found] = (await api?.devMailbox?.list(null)) ?? []
  expect(found).toMatchObject({ subject: 'Your gift card' })
  const stored = await api?.devMailbox?.find(String(found?.id))
  expect(stored).toMatchObject({
    body_text: mail.text,
    body_html: '<p>The code is &lt;7K2M&gt;.</p>\n<p>Keep it.</p>'
  })
  expect(JSON.stringify([found, stored])).not.toMatch(/[\r\n]Bcc/)
  expect(await shop.sql('select id from notifications.messages')).toEqual([])
})

test('a mail of another module is not sent to a suppressed address', async () => {
  const sent: OutgoingMail[] = []
  const mails = { domain: 'shop.example', send: async (mail: OutgoingMail) => void sent.push(mail) }
  const check = async (address: string) => ({
    reason: address === 'gone@example.com' ? ('bounced' as const) : undefined,
    hasBounced: false
  })
  const send = createUnstoredMailSender({ mails, suppressions: { check } })
  const mailTo = (email: string) => ({
    id: 'one',
    kind: 'test',
    subject: 'Hello',
    text: 'Hello.',
    to: { email, name: null }
  })
  expect(await send(mailTo('gone@example.com'))).toBe(false)
  expect(await send(mailTo('ada@example.com'))).toBe(true)
  expect(sent).toMatchObject([{ messageId: '<one@shop.example>', to: { address: 'ada@example.com' } }])
})
