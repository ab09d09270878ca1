import { expect, test } from 'vitest'
import { PATIENCE, useMailingShop } from '../../../test/support/mailing-shop.ts'
import { sent, TRANSFER } from '../../../test/support/orders.ts'
import { needsOwnShop, shareShops } from '../../../test/support/shared-shops.ts'
import { newId } from '../../kernel/ids.ts'
import { customer } from '../../testing.ts'

shareShops()

test('a guest gets mails about their order, with a link that contains the order token', async () => {
  const shop = await useMailingShop()
  const guest = { ...sent(shop.mug, 2), email: 'Ada@Example.com', payment: TRANSFER }
  const { json: order } = await shop.anonymous.post('/api/orders/guest', guest)
  await shop.pay(order.id)
  await shop.waitForMails(1)
  const parcel = { carrier: 'Post', tracking_number: 'JJ00123' }
  const shipped = await shop.admin.post(`/api/admin/orders/${order.id}/shipments`, parcel)
  await shop.waitForMails(2)
  const [{ id: shipmentId }] = shipped.json.shipments
  const arrival = { status: 'delivered', occurred_at: new Date().toISOString() }
  const delivered = await shop.admin.post(`/api/admin/shipping/shipments/${shipmentId}/events`, arrival)
  expect(delivered.status, delivered.text).toBe(200)
  await shop.waitForMails(3)
  await shop.admin.post(`/api/admin/orders/${order.id}/refunds`, { amount: 100, reason: 'dented' })
  const taken = await shop.waitForMails(4)
  const about = (text: string) => taken.find(({ subject }) => subject?.includes(text))
  const placed = about(`Your order ${order.number}`)
  expect(placed).toMatchObject({
    from: { address: 'shop@shop.example', name: 'Cartwright' },
    to: [{ address: 'ada@example.com', name: 'Ada Lovelace' }],
    replyTo: [{ address: 'help@shop.example' }]
  })
  const link = `https://shop.example/orders/${order.id}#token=${order.order_token}`
  expect(placed?.text).toContain(link)
  expect(placed?.html).toContain(`href="${link}"`)
  expect(placed?.text).toContain('2 x ')
  expect(placed?.text).toContain('$20.00')
  expect(about('on its way')?.text).toContain('JJ00123 (Post)')
  expect(about('has arrived')?.text).toContain('JJ00123 (Post)')
  expect(about('refund')?.text).toContain('$1.00')
  expect(placed?.text).toContain('We have received your payment.')
  await expect.poll(shop.statuses, PATIENCE).toEqual(Array(4).fill('sent'))
  const rows = await shop.messages()
  expect(new Set(taken.map(({ messageId }) => messageId))).toEqual(
    new Set(rows.map(({ id }) => `<${id}@shop.example>`))
  )
  expect(JSON.stringify(rows)).not.toContain(order.order_token)
})

test('a message that a dying process has stored is sent when its event is handled again', async () => {
  const shop = await useMailingShop()
  const guest = { ...sent(shop.mug), email: 'ada@example.com', payment: TRANSFER }
  const { json: order } = await shop.anonymous.post('/api/orders/guest', guest)
  await shop.pay(order.id)
  const [{ messageId } = {}] = await shop.waitForMails(1)
  await expect.poll(shop.statuses, PATIENCE).toEqual(['sent'])
  const about = { order_id: order.id, number: order.number, customer_id: null, currency: 'USD', total: 1 }
  const id = await shop.deliverEvent('orders.placed', order.id, about)
  await shop.waitForMails(2)
  await expect.poll(shop.statuses, PATIENCE).toEqual(['sent', 'sent'])
  await shop.deliverEvent('orders.placed', order.id, about, id)
  expect(shop.mails.taken).toHaveLength(2)
  const unsent = `update notifications.messages set status = 'pending', turn = 0, settled_at = null where id = $1`
  await shop.sql(unsent, [(await shop.messages()).at(-1)?.id])
  await shop.deliverEvent('orders.placed', order.id, about, id)
  const mails = await shop.waitForMails(3)
  expect(new Set(mails.map(mail => mail.messageId)).size).toBe(2)
  expect(mails[2]?.messageId).not.toBe(messageId)
})

test('a shipment that is voided or not delivered is not mailed', async () => {
  const shop = await useMailingShop()
  const guest = { ...sent(shop.mug, 2), email: 'ada@example.com', payment: TRANSFER }
  const { json: order } = await shop.anonymous.post('/api/orders/guest', guest)
  await shop.pay(order.id)
  const part = { lines: [{ line: 1, quantity: 1 }] }
  const path = `/api/admin/orders/${order.id}/shipments`
  const [{ id: wrong }] = (await shop.admin.post(path, part)).json.shipments
  await shop.waitForMails(2)
  const about = { order_id: order.id, shipment_id: wrong }
  await shop.deliverEvent('shipping.delivered', order.id, about)
  expect((await shop.admin.post(`${path}/${wrong}/void`, { reason: 'the other one' })).status).toBe(200)
  await shop.deliverEvent('orders.shipped', order.id, about)
  await shop.deliverEvent('shipping.delivered', order.id, about)
  expect(await shop.messages()).toHaveLength(2)
})

const templatesOf = async (shop: Awaited<ReturnType<typeof useMailingShop>>) =>
  (await shop.messages()).map(({ template }) => template)

test('the mail of an order on account names these terms, and its payment is mailed later', async () => {
  needsOwnShop()
  const shop = await useMailingShop({
    CARTWRIGHT__PAYMENTS__MANUAL_METHODS: '[on_account, cash_on_delivery]'
  })
  const order = async (method: string) => {
    const body = { ...sent(shop.mug), email: 'ada@example.com', payment: { provider: 'manual', method } }
    return (await shop.anonymous.post('/api/orders/guest', body)).json
  }
  const { id } = await order('on_account')
  expect((await shop.waitForMails(1))[0]?.text).toContain('You pay it on account.')
  await shop.pay(id)
  expect((await shop.waitForMails(2))[1]?.subject).toContain('Your payment')
  await order('cash_on_delivery')
  expect((await shop.waitForMails(3))[2]?.text).toContain('You pay it when it is delivered.')
  expect(await templatesOf(shop)).toEqual(['order_placed', 'order_paid', 'order_placed'])
  const placed = await shop.admin.get('/api/admin/orders?placed=true&status=pending')
  expect(placed.json.items).toMatchObject([{ status: 'pending', payment_status: 'unpaid' }])
  expect((await shop.admin.get('/api/admin/orders?placed=false')).json.items).toEqual([])
})

test('a payment that places an order gets its own mail when the template `order_placed` is switched off', async () => {
  const shop = await useMailingShop({ CARTWRIGHT__NOTIFICATIONS__OFF: '[order_placed]' })
  const body = { ...sent(shop.mug), email: 'ada@example.com', payment: TRANSFER }
  await shop.pay((await shop.anonymous.post('/api/orders/guest', body)).json.id)
  await shop.waitForMails(1)
  expect(await templatesOf(shop)).toEqual(['order_paid'])
})

test('a buyer who cancels an unplaced order gets no mail, and a buyer whose order staff cancel gets one', async () => {
  const shop = await useMailingShop()
  const ada = shop.as(customer())
  const body = { ...sent(shop.mug), email: 'ada@example.com', payment: TRANSFER }
  const guests = (await shop.anonymous.post('/api/orders/guest', body)).json
  const token = { 'x-order-token': guests.order_token }
  const canceledByBuyers = [
    await shop.anonymous.post(`/api/orders/guest/${guests.id}/cancel`, undefined, token),
    await ada.post(`/api/orders/${(await ada.post('/api/orders', body)).json.id}/cancel`)
  ]
  expect(canceledByBuyers.map(({ json }) => json.status)).toEqual(['canceled', 'canceled'])
  const { json: canceledByStaff } = await shop.anonymous.post('/api/orders/guest', body)
  const reason = 'We have closed.'
  expect((await shop.admin.post(`/api/admin/orders/${canceledByStaff.id}/cancel`, { reason })).status).toBe(
    200
  )
  const unhandled = `select 1 from cartwright.jobs where handler = 'notifications:orders.canceled'`
  await expect.poll(() => shop.sql(unhandled), PATIENCE).toEqual([])
  expect(await shop.messages()).toMatchObject([{ data: { order: { number: canceledByStaff.number } } }])
})

test('a name that mail programs would display as a link is left out of mails', async () => {
  const shop = await useMailingShop()
  const body = sent(shop.mug)
  const names = ['Ada Lovelace', 'J. R. R. Tolkien, c/o Allen']
  const links = [
    'You won! https://evil.test/prize',
    'You won! See evil.test',
    'You won! See ｅｖｉｌ．ｔｅｓｔ'
  ]
  for (const name of [...names, ...links]) {
    const { json: order } = await shop.anonymous.post('/api/orders/guest', {
      ...body,
      email: `victim${newId()}@example.com`,
      shipping_address: { ...body.shipping_address, name }
    })
    await shop.admin.post(`/api/admin/orders/${order.id}/cancel`, { reason: 'It is none.' })
  }
  const mails = await shop.waitForMails(5)
  const greetings = mails.map(({ to, text }) => [to?.[0]?.name, text?.split('\n')[0]])
  const expected = [...names.map(name => [name, `Hello ${name},`]), ...links.map(() => ['', 'Hello,'])]
  expect(greetings.sort()).toEqual(expected.sort())
  for (const { html } of mails) expect(html).not.toMatch(/evil|ｅｖｉｌ/)
})

test('metadata that mail programs would display as a link is left out of mails, and the rest is one line', async () => {
  needsOwnShop()
  const shop = await useMailingShop()
  const address = '/api/admin/notifications/templates/order_placed/en'
  const { subject, text, html } = (await shop.admin.get(address)).json
  const ownText = `${text}{% for entry in order.metadata %}{{ entry.key }}: {{ entry.value }}{% endfor %}`
  expect((await shop.admin.put(address, { subject, text: ownText, html })).status).toBe(200)
  const { items, ...body } = sent(shop.mug)
  const metadata = {
    engraving: 'For "Ada" & co.,\r\n\u202ewith\u2028love <3',
    prize: 'You won! https://evil.test/prize',
    'See evil.test': 'now',
    wide: 'See ｅｖｉｌ．ｔｅｓｔ',
    broken: 'https:/\u200b/evil.test'
  }
  const { json: order } = await shop.anonymous.post('/api/orders/guest', {
    ...body,
    email: 'victim@example.com',
    payment: TRANSFER,
    metadata: { note: 'Hello\nAda', link: 'evil.test' },
    items: items.map(item => ({ ...item, metadata }))
  })
  await shop.pay(order.id)
  const [mail] = await shop.waitForMails(1)
  expect(mail?.text).toContain('\n  engraving: For "Ada" & co., with love <3\n')
  expect(mail?.text).toContain('note: Hello Ada')
  for (const part of [mail?.text, mail?.html])
    expect(part).not.toMatch(/evil|ｅｖｉｌ|prize|wide|link:|broken/)
  const [{ data }] = (await shop.messages()) as [{ data: { order: { metadata: unknown } } }]
  expect(data.order.metadata).toEqual([{ key: 'note', value: 'Hello Ada' }])
})

test('an event that is handled twice queues one mail', async () => {
  const shop = await useMailingShop({ CARTWRIGHT__NOTIFICATIONS__OFF: '[order_paid]' })
  const ada = shop.as(customer())
  const { json: order } = await ada.post('/api/orders', {
    ...sent(shop.mug),
    email: 'ada@example.com',
    payment: TRANSFER
  })
  await shop.pay(order.id)
  await shop.waitForMails(1)
  const [message] = await shop.messages()
  const payload = JSON.stringify({ order_id: order.id })
  const [event] = await shop.sql('select gen_random_uuid() as id')
  const again = `
    insert into cartwright.jobs (handler, subject, event_id, payload)
    values ('notifications:orders.canceled', $1, $2, $3::jsonb)`
  for (let time = 0; time < 2; time += 1) {
    await shop.sql(again, [order.id, event?.id, payload])
    const left = 'select 1 from cartwright.jobs where event_id = $1'
    await expect.poll(() => shop.sql(left, [event?.id]), PATIENCE).toEqual([])
  }
  await shop.waitForMails(2)
  const messages = await shop.messages()
  expect(messages.map(({ template }) => template)).toEqual(['order_placed', 'order_canceled'])
  expect(messages[0]?.id).toBe(message?.id)
})

test('every staff address gets a mail when a variant is sold out', async () => {
  const shop = await useMailingShop({
    CARTWRIGHT__NOTIFICATIONS__STAFF: '[ops@shop.example, "Boss@shop.example"]'
  })
  await shop.stock(shop.mug, 0)
  const soldOut = () =>
    shop.mails.taken.flatMap(({ subject, recipient }) => (subject?.startsWith('Sold out: ') ? recipient : []))
  await expect
    .poll(() => [...new Set(soldOut())].sort(), PATIENCE)
    .toEqual(['boss@shop.example', 'ops@shop.example'])
})
