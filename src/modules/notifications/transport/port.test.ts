import { expect, test } from 'vitest'
import { useShop } from '../../../../test/support/use-shop.ts'
import { newId } from '../../../kernel/ids.ts'
import { provide } from '../../../kernel/ports.ts'
import { defineModule } from '../../../module.ts'
import { notificationsModule } from '../index.ts'
import { type NotificationTransport, notificationTransportPort, type OutgoingMessage } from './port.ts'

const SETTINGS = {
  CARTWRIGHT__NOTIFICATIONS__TRANSPORT: 'pigeon',
  CARTWRIGHT__NOTIFICATIONS__FROM: 'shop@shop.example',
  CARTWRIGHT__NOTIFICATIONS__STAFF: '["ada@example.com"]'
}

/** A module of another repository that sends mails by pigeon. */
const pigeonModule = (transport: NotificationTransport) =>
  defineModule({
    name: 'pigeons',
    description: 'Carries mails.',
    basePaths: [],
    requires: {},
    uses: { notifications: notificationsModule },
    provides: [notificationTransportPort],
    setup: async () => ({ api: {}, provides: [provide(notificationTransportPort, 'pigeon', transport)] })
  })

const mailTo = (email: string) => ({
  id: newId(),
  kind: 'test',
  to: { email, name: 'Ada' },
  subject: 'Hello',
  text: 'Hello.'
})

test('mails are sent by the transport of another module that the setting names', async () => {
  const sent: OutgoingMessage[] = []
  const send = async (message: OutgoingMessage) => void sent.push(message)
  const shop = await useShop({ modules: [notificationsModule, pigeonModule({ send })], settings: SETTINGS })
  const api = shop.apiOf(notificationsModule)
  expect(api?.devMailbox).toBeUndefined()
  const mail = mailTo('ada@example.com')
  expect(await api?.send(mail)).toBe(true)
  expect(sent).toMatchObject([
    {
      channel: 'email',
      messageId: `<${mail.id}@shop.example>`,
      from: { address: 'shop@shop.example' },
      to: { address: 'ada@example.com' },
      replyTo: null
    }
  ])
})

test('an unknown error of a transport is a temporary failure that does not name the recipient', async () => {
  const send = () => Promise.reject(new Error('no corn for ada@example.com'))
  const shop = await useShop({ modules: [notificationsModule, pigeonModule({ send })], settings: SETTINGS })
  const sending = shop.apiOf(notificationsModule)?.send(mailTo('ada@example.com'))
  await expect(sending).rejects.toMatchObject({
    message: 'Error: no corn for <recipient>',
    isPermanent: false,
    isUnknownAddress: false
  })
})

test('a transport that no module provides stops the start, and the reason names the others', async () => {
  await expect(useShop({ modules: [notificationsModule], settings: SETTINGS })).rejects.toThrow(
    'notifications.transport is pigeon, which no enabled module provides: set it to mailbox or log, or enable the module that provides pigeon'
  )
})

test('a transport that needs a server or a sender does not start without its setting', async () => {
  const start = (transport: string) =>
    useShop({
      modules: [notificationsModule],
      settings: { CARTWRIGHT__NOTIFICATIONS__TRANSPORT: transport }
    })
  await expect(start('smtp')).rejects.toThrow('must be set, because transport is smtp')
  await expect(start('pigeon')).rejects.toThrow('because transport is set')
})
