import { expect, test } from 'vitest'
import { broken } from '../../../../test/support/webhook-receiver.ts'
import { DELIVERIES, ENDPOINTS, PATIENCE, useWebhooks } from '../../../../test/support/webhooks.ts'
import { newId } from '../../../kernel/ids.ts'
import { deleteOldWebhookDeliveries } from './repository.ts'

test('webhook deliveries are listed by endpoint, event and status, replayed on request, and deleted by age', async () => {
  const shop = await useWebhooks()
  const { admin, receiver } = shop
  const { id } = await shop.subscribe({ event_types: ['orders.placed'] })
  const other = await shop.subscribe({ event_types: ['orders.canceled'], url: `${receiver.url}/other` })
  receiver.replies.push(response => response.writeHead(200).end())
  await shop.emitOrderPlaced()
  await shop.waitForStatus('delivered')
  const tested = await admin.post(`${ENDPOINTS}/${other.id}/test`)
  expect([tested.status, tested.json.type, tested.json.endpoint_id]).toEqual([201, 'webhook.test', other.id])
  await shop.waitForStatus('delivered', 2)
  const ids = async (query: string) =>
    (await shop.deliveriesOf(query)).map((each: { endpoint_id: string }) => each.endpoint_id)
  expect(await ids('')).toEqual([other.id, id])
  expect(await ids(`?endpoint_id=${id}`)).toEqual([id])
  expect(await ids('?type=webhook.test&status=delivered')).toEqual([other.id])
  expect(await ids('?status=dead')).toEqual([])
  const page = (await admin.get(`${DELIVERIES}?limit=1&count=true`)).json
  expect(page.total).toBe(2)
  expect(await ids(`?limit=1&cursor=${page.next_cursor}`)).toEqual([id])

  const [first] = await shop.deliveriesOf(`?endpoint_id=${id}`)
  const key = { 'idempotency-key': newId() }
  for (let time = 0; time < 2; time += 1)
    expect((await admin.post(`${DELIVERIES}/${first.id}/replay`, undefined, key)).status).toBe(200)
  await shop.waitForRequests(3)
  await shop.waitForStatus('delivered', 2)
  expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([
    first.id,
    tested.json.id,
    first.id
  ])
  expect((await admin.get(`${DELIVERIES}/${first.id}`)).json.attempts).toHaveLength(2)

  await shop.sql(`update webhooks.deliveries set status = 'dead' where id = $1`, [first.id])
  const again = (endpoint: string, body: object) => admin.post(`${ENDPOINTS}/${endpoint}/replay`, body)
  expect((await again(id, { since: '2100-01-01T00:00:00Z' })).status).toBe(204)
  expect((await again(other.id, { since: '2020-01-01T00:00:00Z' })).status).toBe(204)
  await shop.waitForStatus('dead')
  expect((await again(id, { since: '2020-01-01T00:00:00Z' })).status).toBe(204)
  await shop.waitForRequests(4)
  await shop.waitForStatus('delivered', 2)
  expect((await again(other.id, { since: '2020-01-01T00:00:00Z', which: 'all' })).status).toBe(204)
  await shop.waitForRequests(5)

  await admin.patch(`${ENDPOINTS}/${id}`, { active: false })
  const off = await admin.post(`${DELIVERIES}/${first.id}/replay`)
  expect([off.status, off.json.code]).toEqual([409, 'WEBHOOKS_ENDPOINT_INACTIVE'])
  expect((await again(id, { since: '2020-01-01T00:00:00Z' })).json.code).toBe('WEBHOOKS_ENDPOINT_INACTIVE')
  const missing = await admin.post(`${DELIVERIES}/${newId()}/replay`)
  expect([missing.status, missing.json.code]).toEqual([404, 'WEBHOOKS_DELIVERY_NOT_FOUND'])

  await shop.sql(`update webhooks.deliveries set created_at = now() - interval '31 days' where id = $1`, [
    first.id
  ])
  expect(await shop.db.run(deleteOldWebhookDeliveries, { days: 30 })).toBe(1)
  expect((await admin.get(`${DELIVERIES}/${first.id}`)).json.code).toBe('WEBHOOKS_DELIVERY_NOT_FOUND')
})

test('an active webhook endpoint gets the events it subscribes to, and only the latest of events that supersede', async () => {
  const shop = await useWebhooks()
  const { admin, receiver, sql } = shop
  const count = async () => (await sql('select id from webhooks.deliveries')).length
  await shop.emitOrderPlaced()
  const events = `select id from cartwright.jobs where handler like 'webhooks:%'`
  await expect.poll(() => sql(events), PATIENCE).toEqual([])
  expect(await count()).toBe(0)

  const orders = await shop.subscribe({ event_types: ['orders.placed'] })
  const products = await shop.subscribe({
    event_types: ['catalog.product_changed'],
    url: `${receiver.url}/p`
  })
  const product = newId()
  // The first delivery fails and waits, and the second event supersedes it.
  receiver.replies.push(broken)
  await shop.emitProductChanged(product)
  await expect.poll(() => shop.retryCount(), PATIENCE).toBe(1)
  await shop.emitProductChanged(product)
  await shop.waitForStatus('superseded')
  await shop.waitForStatus('delivered')
  expect(receiver.received.map(({ path }) => path)).toEqual(['/hooks/p', '/hooks/p'])
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(2)

  receiver.replies.push(broken)
  await shop.emitOrderPlaced()
  await expect.poll(() => shop.retryCount(), PATIENCE).toBe(1)
  await shop.emitOrderPlaced()
  // Events of orders do not supersede each other.
  await shop.waitForStatus('delivered', 2)
  expect(await shop.deliveriesOf('?status=superseded')).toHaveLength(1)
  await admin.patch(`${ENDPOINTS}/${orders.id}`, { active: false })
  await shop.emitOrderPlaced()
  await expect.poll(() => sql(events), PATIENCE).toEqual([])
  expect(await count()).toBe(4)
  // A pending delivery is sent when the endpoint is enabled again, and canceled when it is deleted.
  await shop.hurry()
  await admin.patch(`${ENDPOINTS}/${orders.id}`, { active: true })
  await shop.waitForStatus('delivered', 3)
  receiver.replies.push(broken)
  await shop.emitProductChanged(product)
  await expect.poll(() => shop.retryCount(), PATIENCE).toBe(1)
  expect((await admin.delete(`${ENDPOINTS}/${products.id}`)).status).toBe(204)
  await shop.waitForStatus('canceled')
})
