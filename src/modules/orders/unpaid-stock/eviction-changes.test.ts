import { expect, test } from 'vitest'
import { useEvictions } from '../../../../test/support/evictions.ts'
import { sent } from '../../../../test/support/orders.ts'
import { CARD } from '../../../../test/support/paid-orders.ts'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import { derivedId } from '../../../kernel/ids.ts'

shareShops()

test('a paid order takes units from unpaid orders only for its units that were not canceled', async () => {
  const shop = await useEvictions()
  await shop.stock(shop.mug, 4)
  const [first, second] = [await shop.transfer(2, '192.0.2.1'), await shop.transfer(2, '192.0.2.2')]
  const buyer = shop.verified()
  const card = shop.made(await buyer.post('/api/orders', { ...sent(shop.mug, 4), payment: CARD }))
  await shop.does(card, 'cancel', { lines: [{ line: 1, quantity: 3 }] })
  expect(await shop.contested()).toEqual([{ owner: card, quantity: 1 }])
  await shop.settled()
  const intent = await buyer.post('/api/payments/intent', { order_id: card, ...CARD })
  expect(intent.status, intent.text).toBe(201)
  await shop.payCard(card)
  await shop.becomes(card, { status: 'paid' })
  expect(await shop.unitsOf(card)).toBe(1)
  // The other order, which lost one unit, releases the rest when it handles the event.
  await expect
    .poll(async () => (await Promise.all([first, second].map(shop.unitsOf))).toSorted())
    .toEqual([0, 2])
  await shop.proveStock()
})

test('an order can be paid again after a payment whose attempt to take units from unpaid orders failed', async () => {
  const shop = await useEvictions()
  await shop.stock(shop.mug, 1)
  await shop.transfer(1)
  const card = await shop.card(1)
  // The earlier payment was voided before the outcome of its attempt arrived.
  await shop.sql(
    `insert into inventory.requests (id, kind, owner, lines, done_at, outcome)
     values ($1, 'take', $2, '{}', now(), '{"kind": "short", "lines": []}')`,
    [derivedId(card, 'take:0'), card]
  )
  await shop.payCard(card)
  await shop.becomes(card, { status: 'paid' })
  expect(await shop.unitsOf(card)).toBe(1)
})

test('an order refunded before the units it took were reported is placed once it is paid again', async () => {
  const shop = await useEvictions()
  await shop.stock(shop.mug, 1)
  const [unpaid, card] = [await shop.transfer(1), await shop.card(1)]
  const lines = {
    parts: [{ itemId: shop.mug, quantity: 1 }],
    victims: [{ owner: unpaid, keep: [] }]
  }
  await shop.sql(`insert into inventory.requests (id, kind, owner, lines) values ($1, 'take', $2, $3)`, [
    derivedId(card, 'take:0'),
    card,
    JSON.stringify(lines)
  ])
  await expect.poll(() => shop.unitsOf(card)).toBe(1)
  await shop.becomesState(unpaid, 'canceled')
  await expect.poll(() => shop.sql('select id from cartwright.jobs where subject = $1', [card])).toEqual([])
  expect(await shop.stateOf(card)).toBe('pending')
  await shop.payCard(card)
  await shop.becomes(card, { status: 'paid' })
  await shop.proveStock()
})

test('an order with a pending cancellation takes no units from unpaid orders when it is paid', async () => {
  const shop = await useEvictions({ capture: 'manual' })
  await shop.stock(shop.mug, 2)
  const unpaid = await shop.transfer(2)
  const card = await shop.card(2)
  // The void of its payment is pending.
  await shop.sql(
    `update orders.orders set cancel_requested_by = 'admin', cancel_requested_at = now() where id = $1`,
    [card]
  )
  await shop.payCard(card)
  await shop.becomes(card, { payment_status: 'authorized' })
  expect(
    await shop.sql(`select id from inventory.requests where kind = 'take' and owner = $1`, [card])
  ).toEqual([])
  expect([await shop.unitsOf(unpaid), await shop.stateOf(unpaid)]).toEqual([2, 'pending'])
})

/** A paid order took a unit of this order, which has not handled the event yet. */
const loses = (shop: Awaited<ReturnType<typeof useEvictions>>, owner: string, itemId: string) =>
  shop.sql('insert into inventory.contested (owner, item_id, quantity) values ($1, $2, 1)', [owner, itemId])
const paymentOf = async (shop: Awaited<ReturnType<typeof useEvictions>>, order: string) =>
  `/api/admin/payments/${(await shop.sql('select id from payments.payments where order_id = $1', [order]))[0]?.id}`

test('a placed order whose units were taken by another order delivers nothing when it is paid', async () => {
  const shop = await useEvictions()
  const song = await shop.sell({ requires_shipping: false })
  await shop.stock(song, 1)
  const later = await shop.anonymous.post('/api/orders/guest', {
    ...sent(song),
    email: 'ada@example.com',
    payment: { provider: 'manual', method: 'cash_on_delivery' }
  })
  const id = shop.made(later)
  await loses(shop, id, song)
  await shop.admin.post(`${await paymentOf(shop, id)}/capture`, {})
  await shop.becomesState(id, 'canceled')
  expect((await shop.read(id)).items[0].fulfilled).toBe(0)
})

test('a placed order that is paid in two parts takes back the units that it lost to another order', async () => {
  const shop = await useEvictions()
  await shop.stock(shop.mug, 2)
  const buyer = shop.verified()
  const payment = { provider: 'manual', method: 'on_account' }
  const placed = shop.made(await buyer.post('/api/orders', { ...sent(shop.mug), payment }))
  await loses(shop, placed, shop.mug)
  const captured = await shop.admin.post(`${await paymentOf(shop, placed)}/capture`, { amount: 100 })
  expect(captured.status, captured.text).toBe(200)
  const rest = await buyer.post('/api/payments/intent', { order_id: placed, ...CARD })
  expect(rest.status, rest.text).toBe(201)
  await shop.payCard(placed)
  await shop.becomes(placed, { payment_status: 'paid' })
  await expect.poll(() => shop.contested()).toEqual([])
})

const HELD = `update orders.orders set payment_status = 'authorized' where id = $1`
const heard = (shop: Awaited<ReturnType<typeof useEvictions>>, id: string) =>
  expect.poll(() => shop.sql('select id from cartwright.jobs where subject = $1', [id])).toEqual([])
const takes = (shop: Awaited<ReturnType<typeof useEvictions>>, owner: string, victims: readonly string[]) =>
  shop.sql(`insert into inventory.requests (id, kind, owner, lines) values ($1, 'take', $2, $3)`, [
    derivedId(owner, 'take:0'),
    owner,
    JSON.stringify({
      parts: [{ itemId: shop.mug, quantity: 1 }],
      victims: victims.map(each => ({ owner: each, keep: [] }))
    })
  ])

test('a paid order takes units of further unpaid orders when those of its first attempt have none left', async () => {
  const shop = await useEvictions()
  await shop.stock(shop.mug, 1)
  await shop.transfer(1)
  const card = await shop.card(1)
  await shop.sql(HELD, [card])
  await takes(shop, card, [])
  await shop.becomesState(card, 'placed')
  expect(await shop.unitsOf(card)).toBe(1)
})

test('an order with a pending cancellation is not placed when the units it took are reported', async () => {
  const shop = await useEvictions()
  await shop.stock(shop.mug, 1)
  const [unpaid, card] = [await shop.transfer(1), await shop.card(1)]
  await shop.sql(HELD, [card])
  await shop.sql(
    `update orders.orders set cancel_requested_by = 'admin', cancel_requested_at = now() where id = $1`,
    [card]
  )
  await takes(shop, card, [unpaid])
  await expect.poll(() => shop.unitsOf(card)).toBe(1)
  await heard(shop, card)
  expect(await shop.stateOf(card)).toBe('pending')
})

test('an unpaid order that is paid before the loss of its units is reported is not canceled', async () => {
  const shop = await useEvictions()
  await shop.stock(shop.mug, 1)
  const [victim, card] = [await shop.transfer(1), await shop.card(1)]
  await shop.sql(`update orders.orders set payment_status = 'paid' where id = $1`, [victim])
  await shop.sql(HELD, [card])
  await takes(shop, card, [victim])
  await expect.poll(() => shop.unitsOf(card)).toBe(1)
  await heard(shop, victim)
  expect(
    await shop.sql('select state, cancel_requested_at, canceled_for from orders.orders where id = $1', [
      victim
    ])
  ).toEqual([{ state: 'pending', cancel_requested_at: null, canceled_for: null }])
})
