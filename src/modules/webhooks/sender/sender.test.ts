import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { DELIVERIES, PATIENCE, useWebhooks } from '../../../../test/support/webhooks.ts'

test('an event is sent by webhook once, with a signature that the receiver can verify', async () => {
  const shop = await useWebhooks()
  const endpoint = await shop.subscribe()
  const order = await shop.emitOrderPlaced()
  await shop.waitForStatus('delivered')
  const [{ headers, body, path }] = shop.receiver.received as [(typeof shop.receiver.received)[number]]
  expect([path, headers['content-type'], shop.receiver.received.length]).toEqual([
    '/hooks',
    'application/json',
    1
  ])
  const verified = new Webhook(endpoint.secret).verify(body, headers as Record<string, string>)
  expect(verified).toEqual({
    type: 'orders.placed',
    position: 1,
    subject: order,
    subject_version: 1,
    payload_version: 1,
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    data: { order_id: order, number: '1001', customer_id: null, currency: 'USD', total: 100 }
  })
  const [delivery] = await shop.deliveriesOf()
  expect(delivery).toMatchObject({ id: headers['webhook-id'], type: 'orders.placed', tries: 1, due_at: null })
  const { json } = await shop.admin.get(`${DELIVERIES}/${delivery.id}`)
  expect(json).toMatchObject({ body, attempts: [{ status_code: 204, error: null, answer: '' }] })
})

test('a webhook delivery that fails is sent again with the same id and body until it succeeds', async () => {
  const shop = await useWebhooks()
  const { secret } = await shop.subscribe()
  shop.receiver.replies.push(
    response => response.writeHead(500).end('out\0 of order'),
    response => response.destroy()
  )
  await shop.emitOrderPlaced()
  await shop.waitForRequests(1)
  await expect
    .poll(async () => {
      await shop.hurry()
      return shop.receiver.received.length
    }, PATIENCE)
    .toBe(3)
  await shop.waitForStatus('delivered')
  const { received } = shop.receiver
  expect(new Set(received.map(({ body, headers }) => `${headers['webhook-id']} ${body}`)).size).toBe(1)
  for (const { body, headers } of received)
    new Webhook(secret).verify(body, headers as Record<string, string>)
  const [{ id }] = await shop.deliveriesOf()
  const { json } = await shop.admin.get(`${DELIVERIES}/${id}`)
  expect(json.tries).toBe(3)
  expect(json.attempts).toMatchObject([
    { status_code: 204 },
    { status_code: null, answer: null },
    { status_code: 500, error: 'it answered 500', answer: 'out\ufffd of order' }
  ])
})
