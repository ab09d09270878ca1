import { expect, test } from 'vitest'
import { usePaidOrders } from '../../../../test/support/paid-orders.ts'
import { newId } from '../../../kernel/ids.ts'

const ARRIVED = { status: 'delivered', occurred_at: '2026-11-04T10:00:00Z' }

test('deliveries and returns to the sender are in the order history, and restart the time until completion', async () => {
  const shop = await usePaidOrders()
  const { id } = await shop.order(3)
  await shop.pay(id)
  const shipmentsOf = async () => (await shop.buyer.get(`/api/shipping/order/${id}`)).json.items
  const [waiting] = await shipmentsOf()
  expect(waiting).toMatchObject({ status: 'pending', sent_at: null, lines: [{ line: 1, quantity: 3 }] })
  const part = { lines: [{ line: 1, quantity: 1 }], carrier: 'Post', tracking_number: 'PP1' }
  const [{ id: first }] = (await shop.does(id, 'shipments', part)).shipments
  expect(await shipmentsOf()).toMatchObject([
    {
      id: first,
      status: 'in_transit',
      carrier: 'Post',
      service: waiting.service,
      lines: [{ line: 1, quantity: 1 }]
    },
    { id: waiting.id, status: 'pending', lines: [{ line: 1, quantity: 2 }] }
  ])
  const { shipments } = await shop.does(id, 'shipments')
  const second = shipments.find((each: { id: string }) => each.id !== first).id
  expect((await shipmentsOf()).map((each: { id: string }) => each.id).sort()).toEqual([first, second].sort())

  await shop.sql(`update orders.orders set updated_at = updated_at - interval '29 days'`)
  const before = (await shop.read(id)).updated_at
  const tell = (shipment: string, status: string) =>
    shop.admin.post(`/api/admin/shipping/shipments/${shipment}/events`, { ...ARRIVED, status })
  await tell(first, 'delivered')
  await tell(second, 'returned')
  const actions = async () =>
    (await shop.read(id)).history.map(({ action }: { action: string }) => action).slice(4)
  await expect.poll(actions).toEqual(['deliver', 'come_back'])
  const order = await shop.read(id)
  expect(order).toMatchObject({ status: 'shipped', fulfillment_status: 'fulfilled' })
  expect(Date.parse(order.updated_at) - Date.parse(before)).toBeGreaterThan(28 * 86_400_000)
})

test('a tracking event that is voided before the order handles it is not recorded in the order', async () => {
  const shop = await usePaidOrders()
  const { id } = await shop.order(2)
  await shop.pay(id)
  const part = { lines: [{ line: 1, quantity: 1 }] }
  const [{ id: first }] = (await shop.does(id, 'shipments', part)).shipments
  const path = `/api/admin/shipping/shipments/${first}/events`
  const { json } = await shop.admin.post(path, ARRIVED)
  const actions = async () => (await shop.read(id)).history.map(({ action }: { action: string }) => action)
  await expect.poll(actions).toContain('deliver')
  const events = async (status: string) => {
    const told = [
      `orders:shipping.${status}`,
      id,
      newId(),
      JSON.stringify({ order_id: id, shipment_id: first })
    ]
    await shop.sql(
      'insert into cartwright.jobs (handler, subject, event_id, payload) values ($1, $2, $3, $4::jsonb)',
      told
    )
    const left = () => shop.sql('select 1 from cartwright.jobs where event_id = $1', [told[2]])
    await expect.poll(left).toEqual([])
    return (await actions()).filter((action: string) => action === 'deliver' || action === 'come_back')
  }
  // Each valid delivery event is recorded. No return to the sender was reported.
  expect(await events('delivered')).toEqual(['deliver', 'deliver'])
  expect(await events('returned')).toEqual(['deliver', 'deliver'])
  await shop.does(id, `shipments/${first}/events/${json.events[0].id}/void`, { reason: 'another parcel' })
  expect(await events('delivered')).toEqual(['deliver', 'deliver'])
})

test('canceled units of an order are no longer to be shipped', async () => {
  const shop = await usePaidOrders()
  const [{ id: part }, { id: whole }] = [await shop.order(3), await shop.order()]
  await shop.does(part, 'cancel', { lines: [{ line: 1, quantity: 2 }] })
  const { json } = await shop.buyer.get(`/api/shipping/order/${part}`)
  expect(json.items).toMatchObject([{ lines: [{ line: 1, quantity: 1 }] }])
  expect((await shop.buyer.post(`/api/orders/${whole}/cancel`)).status).toBeLessThan(300)
  await shop.becomes(whole, { status: 'canceled' })
  expect((await shop.buyer.get(`/api/shipping/order/${whole}`)).status).toBe(404)
})

test('a wrong tracking number is rejected, or corrected later with its former value kept', async () => {
  const shop = await usePaidOrders()
  const { id } = await shop.order()
  await shop.pay(id)
  const wrong = { carrier: 'ups', tracking_number: '1Z5R89390357567128' }
  const refused = await shop.admin.post(`/api/admin/orders/${id}/shipments`, wrong)
  expect([refused.status, refused.json.code]).toEqual([400, 'SHIPPING_NUMBER_INVALID'])
  expect((await shop.read(id)).items[0].fulfilled).toBe(0)
  const [sent] = (await shop.does(id, 'shipments', { ...wrong, unchecked: true })).shipments
  expect(sent).toMatchObject({ carrier: 'UPS', tracking_number: '1Z5R89390357567128', former: [] })
  const path = `/api/admin/orders/${id}/shipments`
  const key = { 'idempotency-key': crypto.randomUUID() }
  const correct = () =>
    shop.admin.patch(`${path}/${sent.id}`, { tracking_number: '1Z5R89390357567127', reason: 'typo' }, key)
  await correct()
  const { shipments, history } = (await correct()).json
  expect(shipments).toMatchObject([
    {
      id: sent.id,
      carrier: 'UPS',
      tracking_number: '1Z5R89390357567127',
      former: [{ carrier: 'UPS', tracking_number: '1Z5R89390357567128', actor: expect.any(String) }]
    }
  ])
  expect(history.at(-1)).toMatchObject({ action: 'relabel', reason: 'typo' })
  const found = async (number: string) => (await shop.anonymous.get(`/api/shipping/track/${number}`)).status
  expect([await found(wrong.tracking_number), await found('1Z5R89390357567127')]).toEqual([404, 200])
  const own = (await shop.buyer.get(`/api/orders/${id}`)).json
  expect(own.shipments[0]).not.toHaveProperty('former')
  expect(own.history.map(({ action }: { action: string }) => action)).not.toContain('relabel')
  await shop.admin.patch(`${path}/${sent.id}`, { tracking_number: null })
  expect(await found('1Z5R89390357567127')).toBe(404)

  const other = await shop.order()
  const code = async (of: string, shipment: string, headers = {}) =>
    (await shop.admin.patch(`/api/admin/orders/${of}/shipments/${shipment}`, {}, headers)).json.code
  expect(await code(id, other.id)).toBe('ORDER_SHIPMENT_NOT_FOUND')
  expect(await code(other.id, sent.id)).toBe('ORDER_ACTION_REFUSED')
  expect(await code(id, sent.id, { 'if-match': '"1"' })).toBe('ORDER_STALE')
})
