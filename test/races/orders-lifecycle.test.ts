import { expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { itemOf, STOCKHOLM } from '../support/checkouts.ts'
import { type PaidOrders, usePaidOrders } from '../support/paid-orders.ts'
import { shareShops } from '../support/shared-shops.ts'

shareShops()

const atOnce = <T>(many: number, work: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: many }, (_, index) => work(index)))

/** Checks the invariants of all orders in the tables and the ledger of the provider. */
async function expectConsistentOrders(shop: PaidOrders): Promise<void> {
  await shop.settled()
  await expect
    .poll(async () => (await shop.sql('select id from inventory.requests where done_at is null')).length)
    .toBe(0)
  const [sums] = await shop.sql(`
    select
      (select count(*)::int from orders.orders o join payments.accounts a on a.order_id = o.id
        where o.payment_status <> a.status) as unlike,
      (select count(*)::int from payments.accounts where captured - refunded - refunding > due) as kept,
      (select count(*)::int from payments.accounts where refunded + refunding > captured) as too_much,
      (select count(*)::int from orders.orders o join payments.accounts a on a.order_id = o.id
        where o.state = 'canceled' and (authorized > 0 or captured > refunded + refunding)) as canceled_with_money,
      (select count(*)::int from orders.orders o where o.total < (
        select coalesce(sum(amount), 0) from orders.adjustments where order_id = o.id)) as credited_too_much,
      (select count(*)::int from orders.adjustments a where amount < (
        select coalesce(sum(amount), 0) from orders.adjustment_parts where adjustment_id = a.id)) as parts,
      (select count(*)::int from orders.orders where (cancel_requested_at is null) <> (cancel_requested_by is null)) as requests,
      (select count(*)::int from orders.lines l join orders.orders o on o.id = l.order_id
        where l.ordered - l.canceled - l.fulfilled <> (
          select coalesce(sum(quantity - fulfilled), 0) from inventory.reservations r
          where r.owner = o.id and r.item_id = l.variant_id and r.state <> 'closed')) as stock,
      (select count(*)::int from orders.lines l where l.fulfilled <> (
        select coalesce(sum((unit->>'quantity')::int), 0)
        from orders.shipments s, jsonb_array_elements(s.lines) as unit
        where s.order_id = l.order_id and s.voided_at is null and (unit->>'line')::int = l.line)) as parcels,
      (select count(*)::int from shipping.shipments s join orders.shipments parcel on parcel.id = s.id
        where (s.voided_at is null) <> (parcel.voided_at is null)) as voids,
      (select count(*)::int from (
        select order_id from orders.lines where requires_shipping group by order_id having sum(ordered - canceled - fulfilled) > 0
      ) as open where not exists (
        select from shipping.shipments s where s.order_id = open.order_id and s.sent_at is null)) as not_waiting,
      (select count(*)::int from orders.orders where state = 'completed' and exists (
        select from orders.lines where order_id = orders.id and canceled + fulfilled < ordered)) as done_too_early`)
  expect(sums).toEqual({
    unlike: 0,
    kept: 0,
    too_much: 0,
    canceled_with_money: 0,
    credited_too_much: 0,
    parts: 0,
    requests: 0,
    stock: 0,
    parcels: 0,
    voids: 0,
    not_waiting: 0,
    done_too_early: 0
  })
  // Shops with other settings have intents there, too.
  const payments = await shop.sql('select object_id from payments.payments where object_id is not null')
  const intents = new Set(payments.map(({ object_id }) => object_id))
  const back = (await shop.sandbox.objects()).filter(
    ({ object, payment_intent }) => object === 'refund' && intents.has(payment_intent)
  )
  const [told] = await shop.sql('select coalesce(sum(refunded), 0)::int as refunded from payments.accounts')
  expect(back.reduce((all, { amount }) => all + amount, 0)).toBe(told?.refunded)
}

test('an order that is canceled during its payment is refunded or unpaid', async () => {
  const shop = await usePaidOrders()
  const ids = await atOnce(5, async () => (await shop.order(1)).id as string)
  await Promise.all(
    ids.flatMap((id, index) => [
      (async () => {
        await shop.act(id, 'pay')
        await shop.callBack(id)
      })(),
      (async () => {
        for (let wait = 0; wait < index; wait += 1) await shop.read(id)
        await shop.buyer.post(`/api/orders/${id}/cancel`)
      })()
    ])
  )
  await shop.settled()
  for (const id of ids) await shop.becomes(id, { status: 'canceled' })
  await expectConsistentOrders(shop)
  expect(await shop.reserved(shop.mug)).toEqual([])
})

test('ten concurrent cancellations cancel an order once', async () => {
  const shop = await usePaidOrders()
  const { id, total } = await shop.order()
  await shop.pay(id)
  const answers = await atOnce(10, () => shop.buyer.post(`/api/orders/${id}/cancel`))
  for (const { status, text } of answers) expect([200, 202], text).toContain(status)
  await expectConsistentOrders(shop)
  const { history, adjustments } = await shop.becomes(id, { status: 'canceled', payment_status: 'refunded' })
  const actions = history.map(({ action }: { action: string }) => action)
  expect(actions.filter((action: string) => action.endsWith('cancel'))).toEqual(['cancel', 'confirm_cancel'])
  expect(adjustments).toMatchObject([{ amount: total, back: total }])
})

test('concurrent refunds never refund a unit or an amount twice', async () => {
  const shop = await usePaidOrders()
  const { id, total } = await shop.order(3)
  await shop.pay(id)
  await shop.does(id, 'shipments')
  const one = { lines: [{ line: 1, quantity: 1 }], reason: 'chipped' }
  const some = { amount: 700, reason: 'late' }
  const answers = await atOnce(12, index =>
    shop.admin.post(`/api/admin/orders/${id}/refunds`, index % 2 === 0 ? one : some)
  )
  const codes = answers.filter(({ status }) => status !== 200).map(({ json }) => json.code)
  expect(new Set(codes)).toEqual(new Set(['ORDER_UNITS_SHORT', 'ORDER_CREDIT_TOO_MUCH']))
  await expectConsistentOrders(shop)
  const order = await shop.becomes(id, { items: [{ refunded: 3 }] })
  const back = order.adjustments.reduce((all: number, each: { back: number }) => all + each.back, 0)
  expect(back).toBeLessThanOrEqual(total)
  const [account] = await shop.sql('select refunded::int from payments.accounts where order_id = $1', [id])
  expect(account?.refunded).toBe(back)
})

test('concurrent shipments, line cancellations and a cancellation never use a unit twice', async () => {
  const shop = await usePaidOrders({ capture: 'manual' })
  const { id } = await shop.order(6)
  await shop.pay(id)
  const one = { lines: [{ line: 1, quantity: 1 }] }
  const operations = [
    'shipments',
    'cancel',
    'shipments',
    'cancel',
    'shipments',
    'cancel',
    'shipments',
    'shipments'
  ]
  await Promise.all([
    ...operations.map(what => shop.admin.post(`/api/admin/orders/${id}/${what}`, one)),
    shop.buyer.post(`/api/orders/${id}/cancel`)
  ])
  await expectConsistentOrders(shop)
})

const voidReason = { reason: 'the carrier never picked it up' }
const one = { lines: [{ line: 1, quantity: 1 }] }
const arrived = { status: 'delivered', occurred_at: '2026-11-04T10:00:00Z' }
test.each<[string, (shop: PaidOrders, id: string, parcel: string) => Promise<unknown>[]]>([
  ['voided again', () => []],
  [
    'returned',
    ({ admin }, id) => [admin.post(`/api/admin/orders/${id}/returns`, { lines: [{ line: 1, quantity: 2 }] })]
  ],
  [
    'refunded',
    ({ admin }, id) => [admin.post(`/api/admin/orders/${id}/refunds`, { ...one, reason: 'chipped' })]
  ],
  ['followed by the rest', ({ admin }, id) => [admin.post(`/api/admin/orders/${id}/shipments`, {})]],
  ['canceled', ({ buyer }, id) => [buyer.post(`/api/orders/${id}/cancel`)]],
  [
    'completed',
    ({ admin }, id) => [admin.post(`/api/admin/orders/${id}/transition`, { action: 'complete' })]
  ],
  [
    'reported as delivered',
    ({ admin }, _, parcel) => [admin.post(`/api/admin/shipping/shipments/${parcel}/events`, arrived)]
  ]
])(
  'a shipment that is voided while it is %s is either voided or not, in all tables',
  async (_, meanwhile) => {
    const shop = await usePaidOrders()
    const orders = await atOnce(4, async () => {
      const { id } = await shop.order(3)
      await shop.pay(id)
      const body = { lines: [{ line: 1, quantity: 2 }] }
      return { id: id as string, parcel: (await shop.does(id, 'shipments', body)).shipments[0].id as string }
    })
    const answers = await Promise.all(
      orders.map(async ({ id, parcel }, index) => {
        const path = `/api/admin/orders/${id}/shipments/${parcel}/void`
        const undo = () => [shop.admin.post(path, voidReason), shop.admin.post(path, voidReason)]
        const rest = () => meanwhile(shop, id, parcel)
        return Promise.all(index % 2 === 0 ? [...undo(), ...rest()] : [...rest(), ...undo()])
      })
    )
    for (const { status, text } of answers.flat() as { status: number; text: string }[])
      expect([200, 202, 409], text).toContain(status)
    await expectConsistentOrders(shop)
    for (const { id, parcel } of orders) {
      const { history, shipments } = await shop.read(id)
      const times = history.filter(({ action }: { action: string }) => action === 'void_shipment').length
      const of = shipments.find((each: { id: string }) => each.id === parcel)
      expect(times).toBe(of.voided_at === null ? 0 : 1)
    }
  }
)

test('an order that is paid while it expires is either paid or canceled and refunded', async () => {
  const shop = await usePaidOrders()
  const ids = await atOnce(4, async () => (await shop.order(1)).id as string)
  await shop.sql(
    `update orders.orders set created_at = created_at - interval '31 minutes', expires_at = null
     where id = any ($1)`,
    [ids]
  )
  await Promise.all([
    ...ids.map(async id => {
      await shop.act(id, 'pay')
      await shop.callBack(id)
    }),
    shop.hurry()
  ])
  await expectConsistentOrders(shop)
  for (const id of ids) expect(['paid', 'canceled']).toContain((await shop.read(id)).status)
})

test.each([
  ['one key', () => 'one-key'],
  ['a key each', (index: number) => `key-${index}`],
  ['no key', () => undefined]
])(
  '8 completions of a checkout of one cart with %s are one order, one authorization, and take the stock once',
  async (_, keyOf) => {
    const shop = await usePaidOrders({ capture: 'manual' })
    // Ids are in the order of time.
    const since = newId()
    await shop.buyer.post('/api/cart', itemOf(shop.mug, 3))
    const asked = { cart: true, shipping_address: STOCKHOLM }
    const { json: checkout } = await shop.buyer.post('/api/checkouts', asked)
    const answers = await atOnce(8, index => {
      const key = keyOf(index)
      const headers = key === undefined ? {} : { 'idempotency-key': key }
      const body = { payment: { provider: 'sandbox', method: 'card' } }
      return shop.buyer.post(`/api/checkouts/${checkout.id}/complete`, body, headers)
    })
    const told = answers.filter(({ status }) => status < 300)
    const [id, ...others] = new Set(told.map(({ json }) => json.id as string))
    if (id === undefined) throw new Error(JSON.stringify(answers.map(({ json }) => json)))
    expect(others).toEqual([])
    for (const { json } of answers.filter(({ status }) => status >= 300))
      expect(['CHECKOUT_COMPLETED', 'CART_EMPTY', 'CART_CHANGED']).toContain(json.code)
    await shop.act(id, 'pay')
    await atOnce(4, () => shop.callBack(id))
    const { total } = await shop.becomes(id, { payment_status: 'authorized' })
    await expectConsistentOrders(shop)
    const intents = (await shop.sandbox.objects()).filter(
      ({ object, metadata }) => object === 'payment_intent' && String(metadata?.order_id) > since
    )
    expect(intents.map(({ amount }) => amount)).toEqual([total])
    const accounts = 'select order_id, authorized::int from payments.accounts where order_id > $1'
    expect(await shop.sql(accounts, [since])).toEqual([{ order_id: id, authorized: total }])
    expect(await shop.reserved(shop.mug)).toEqual([{ order_id: id, state: 'confirmed', quantity: 3 }])
  }
)

test('a digital order that is canceled, put on hold or refunded simultaneously is delivered once or not at all', async () => {
  const shop = await usePaidOrders()
  const song = await shop.sell({ requires_shipping: false })
  await shop.stock(song, 100)
  const payment = { provider: 'sandbox', method: 'card' }
  const ids = await atOnce(4, async () => {
    const { status, text, json } = await shop.buyer.post('/api/orders', { items: [itemOf(song, 2)], payment })
    expect(status, text).toBe(201)
    return json.id as string
  })
  const of = (id: string) => `/api/admin/orders/${id}`
  const one = { lines: [{ line: 1, quantity: 1 }] }
  await Promise.all(
    ids.map(async (id, index) => {
      await shop.act(id, 'pay')
      await Promise.all([
        ...Array.from({ length: 4 }, () => shop.callBack(id)),
        index % 2 === 0
          ? shop.buyer.post(`/api/orders/${id}/cancel`)
          : shop.admin.post(`${of(id)}/transition`, { action: 'hold' }),
        shop.admin.post(`${of(id)}/shipments`, one),
        shop.admin.post(`${of(id)}/refunds`, { ...one, reason: 'it skips' }),
        shop.admin.post(`${of(id)}/returns`, one)
      ])
      await shop.admin.post(`${of(id)}/transition`, { action: 'release' })
    })
  )
  await expectConsistentOrders(shop)
  for (const id of ids) {
    const { status, items, shipments } = await shop.read(id)
    const isCanceled = status === 'canceled'
    expect(items).toMatchObject([{ fulfilled: isCanceled ? 0 : 2, canceled: isCanceled ? 2 : 0 }])
    const sent = shipments.flatMap(({ lines }: { lines: { quantity: number }[] }) => lines)
    expect(sent.reduce((all: number, { quantity }: { quantity: number }) => all + quantity, 0)).toBe(
      isCanceled ? 0 : 2
    )
  }
})
