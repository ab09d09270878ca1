import { expect, test } from 'vitest'
import { CHECKOUT_MODULES } from '../../../../test/support/checkouts.ts'
import { PATIENCE } from '../../../../test/support/mailing-shop.ts'
import { sent, TRANSFER, useOrders } from '../../../../test/support/orders.ts'
import { notificationsModule } from '../index.ts'

const modules = [...CHECKOUT_MODULES, notificationsModule]
const PAGE = { accept: 'text/html' }

test('in development /mails shows mails as JSON, and as a page that runs no scripts', async () => {
  const shop = await useOrders({ modules, settings: { CARTWRIGHT__NOTIFICATIONS__MAILBOX_MAX: '2' } })
  const address = { ...sent(shop.mug).shipping_address, name: '<script>alert(1)</script> & "Ada"' }
  const order = { ...sent(shop.mug), shipping_address: address, payment: TRANSFER }
  for (const name of ['ada', 'bob', 'cleo']) {
    const { json } = await shop.anonymous.post('/api/orders/guest', {
      ...order,
      email: `${name}@example.com`
    })
    await shop.pay(json.id)
  }
  const mails = async (query = '') => (await shop.anonymous.get(`/mails${query}`)).json.items
  await expect.poll(async () => (await mails()).length, PATIENCE).toBe(3)
  const [own] = await mails('?to=bob@example.com')
  expect(own).toMatchObject({ recipient: 'bob@example.com', sender: 'shop@localhost' })

  const page = await shop.anonymous.get('/mails', undefined, PAGE)
  expect(page.text).toContain(`href="/mails/${own.id}"`)
  expect((await shop.anonymous.get('/mails/', undefined, PAGE)).text).toBe(page.text)
  const mail = await shop.anonymous.get(`/mails/${own.id}`)
  expect(mail.json).toMatchObject({ id: own.id, message_id: `<${own.id}@localhost>`, subject: own.subject })
  expect(mail.json.body_text).toContain('script alert(1) /script')
  const shown = await shop.anonymous.get(`/mails/${own.id}`, undefined, PAGE)
  const framed = await shop.anonymous.get(`/mails/${own.id}/html`, undefined, PAGE)
  expect(framed.text).toBe(mail.json.body_html)
  for (const { text, headers } of [page, shown, framed]) {
    expect(text).not.toContain('<script')
    expect(headers['content-security-policy']).toContain("default-src 'none'")
  }
  expect(framed.headers['content-security-policy']).toContain('; sandbox')
  expect(framed.headers['x-frame-options']).toBe('SAMEORIGIN')
  expect(shown.text).toContain('<iframe sandbox=')
  for (const path of ['/mails/nothing', `/mails/${crypto.randomUUID()}`, '/mails/nothing/html'])
    expect((await shop.anonymous.get(path)).status).toBe(404)
})

test('/mails is available to this machine, and to the configured development peers', async () => {
  const statusOf = async (settings: Record<string, string>, remoteAddress: string) => {
    const shop = await useOrders({ modules, settings })
    const get = async (url: string) => (await shop.app.inject({ url, remoteAddress })).statusCode
    const status = await get('/mails')
    expect(await get('/mails/')).toBe(status)
    return status
  }
  const containers = { CARTWRIGHT__SERVER__DEVELOPMENT_PEERS: '["172.17.0.0/16"]' }
  expect(await statusOf({}, '172.17.0.2')).toBe(403)
  expect(await statusOf(containers, '172.17.0.2')).toBe(200)
  expect(await statusOf(containers, '192.0.2.1')).toBe(403)
})

test('in production without a mail server /mails is 404, and the log names each mail without its recipient', async () => {
  const settings = {
    CARTWRIGHT__ENVIRONMENT: 'production',
    CARTWRIGHT__PAYMENTS__BANK_TRANSFER: 'SE35 5000 0000 0549 1000 0003'
  }
  const shop = await useOrders({ modules, settings })
  const order = { ...sent(shop.mug), email: 'ada@example.com', payment: TRANSFER }
  const { json } = await shop.anonymous.post('/api/orders/guest', order)
  await shop.pay(json.id)
  await expect
    .poll(() => shop.log.filter(line => line.includes('a mail is not sent')).length, PATIENCE)
    .toBe(1)
  expect(shop.log.join('')).not.toContain('ada@example.com')
  expect((await shop.anonymous.get('/mails')).status).toBe(404)
})
