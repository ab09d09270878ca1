import { expect, test } from 'vitest'
import { useMailingShop } from '../../../../test/support/mailing-shop.ts'
import { sent, TRANSFER } from '../../../../test/support/orders.ts'
import { newId } from '../../../kernel/ids.ts'
import { customer } from '../../../testing.ts'

const SEND = '/api/notifications/send'
type Shop = Awaited<ReturnType<typeof useMailingShop>>

async function orderOf(shop: Shop, caller: { token: string }, isPaid = true): Promise<string> {
  const order = { ...sent(shop.mug), email: 'ada@example.com', payment: TRANSFER }
  const { json } = await shop.as(caller).post('/api/orders', order)
  if (isPaid) await shop.pay(json.id)
  return json.id
}

test('a customer requests a mail about their order, and a retried request sends it once', async () => {
  const shop = await useMailingShop({ CARTWRIGHT__NOTIFICATIONS__OFF: '[order_placed, order_paid]' })
  const ada = customer()
  const order_id = await orderOf(shop, ada)
  const body = { template: 'order_placed', data: { order_id } }
  const key = { 'idempotency-key': newId() }
  const first = await shop.as(ada).post(SEND, body, key)
  expect([first.status, first.json]).toEqual([
    202,
    { id: expect.any(String), channel: 'email', status: 'pending' }
  ])
  expect((await shop.as(ada).post(SEND, body, key)).json.id).toBe(first.json.id)
  const [mail] = await shop.waitForMails(1)
  expect(mail?.text).toContain(`https://shop.example/orders/${order_id}`)
  const own = (await shop.as(ada).get('/api/notifications?count=true')).json
  expect([own.total, own.items[0].id, own.items[0].recipient]).toEqual([1, first.json.id, undefined])
  expect((await shop.as(customer()).get('/api/notifications?count=true')).json.total).toBe(0)

  const boss = await shop.admin.post(SEND, { ...body, to: 'Boss@Example.com' })
  expect(boss.status).toBe(202)
  expect((await shop.waitForMails(2))[1]?.recipient).toBe('boss@example.com')
  await shop.as(ada).post(SEND, { ...body, channel: 'log' })
  await expect.poll(() => shop.statuses()).toEqual(['sent', 'sent', 'sent'])
  expect(shop.mails.taken).toHaveLength(2)
})

test("a customer cannot request a mail to another address, about another's order, or with a wrong status", async () => {
  const shop = await useMailingShop()
  const [ada, eve] = [customer(), customer()]
  const order_id = await orderOf(shop, ada, false)
  const rejection = async (caller: { token: string } | null, body: object) => {
    const { status, json } = await shop.as(caller).post(SEND, body)
    return [status, json.code]
  }
  const data = { order_id }
  const placed = { template: 'order_placed', data }
  expect(await rejection(null, placed)).toEqual([401, 'AUTHENTICATION_REQUIRED'])
  expect(await rejection(eve, { ...placed, to: 'bob@example.com' })).toEqual([
    ...[403, 'NOTIFICATION_RECIPIENT_FORBIDDEN']
  ])
  const unknown = await rejection(eve, { ...placed, data: { order_id: newId() } })
  expect(unknown).toEqual([404, 'NOTIFICATION_ORDER_NOT_FOUND'])
  expect(await rejection(eve, placed)).toEqual(unknown)
  expect(await rejection(ada, placed)).toEqual([409, 'NOTIFICATION_NOT_SO'])
  const shipped = { template: 'order_shipped', data: { order_id, shipment_id: newId() } }
  expect(await rejection(ada, shipped)).toEqual(unknown)
  expect(await rejection(ada, { template: 'welcome' })).toEqual([409, 'NOTIFICATION_RECIPIENT_UNKNOWN'])
  expect(await rejection(ada, { template: 'reset_password' })).toEqual([409, 'NOTIFICATION_NOT_SENDABLE'])
  expect(await rejection(ada, { template: 'nothing' })).toEqual([400, 'VALIDATION_FAILED'])
  for (const wrong of [{}, { order_id: 'x' }, { ...data, html: '<b>' }])
    expect(await rejection(ada, { template: 'order_placed', data: wrong })).toEqual([
      ...[400, 'NOTIFICATION_DATA_INVALID']
    ])
  for (const to of ['no address', 'a@example.com\r\nBcc: b@example.com'])
    expect((await rejection({ token: 'admin' }, { template: 'welcome', to }))[0]).toBe(400)
  expect(await shop.messages()).toEqual([])
  expect((await shop.anonymous.get('/api/notifications')).status).toBe(401)
})

test('mail requests of one caller are limited per minute', async () => {
  const shop = await useMailingShop({
    CARTWRIGHT__RATE_LIMIT__ENABLED: 'true',
    CARTWRIGHT__NOTIFICATIONS__SENDS_PER_MINUTE: '2'
  })
  const ada = shop.as(customer())
  const statuses = []
  for (let time = 0; time < 3; time += 1)
    statuses.push((await ada.post(SEND, { template: 'welcome' })).status)
  expect(statuses).toEqual([409, 409, 429])
  expect((await shop.as(customer()).post(SEND, { template: 'welcome' })).status).toBe(409)
})
