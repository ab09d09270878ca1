import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { until } from '../../../../test/faults/until.ts'
import { itemOf, STOCKHOLM, useCheckouts } from '../../../../test/support/checkouts.ts'
import { doOnceMore } from '../../../../test/support/jobs.ts'
import { ownNetworks } from '../../../../test/support/networks.ts'
import { sent, useOrders } from '../../../../test/support/orders.ts'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import { customer, fakeAuth } from '../../../testing.ts'
import { insertUnpaidUnits } from './repository.ts'

shareShops()

const METHODS = ['bank_transfer', 'cash_on_delivery', 'on_account'] as const
const by = (method: string) => ({ provider: 'manual', method })
const LIMITED = 'ORDER_UNPAID_STOCK_LIMIT'

const withAuth = () => ({ auth: fakeAuth() })

/** A shop with deferred payments that sees the network of each buyer. */
async function useSiege(settings: Readonly<Record<string, string>> = {}) {
  const all = {
    CARTWRIGHT__PAYMENTS__MANUAL_METHODS: JSON.stringify(METHODS),
    CARTWRIGHT__SERVER__TRUST_PROXY: 'true',
    CARTWRIGHT__RATE_LIMIT__ENABLED: 'false',
    ...settings
  }
  const shop = await useOrders({ settings: all, instead: withAuth })
  const { auth } = shop.instead
  const home = ownNetworks()('home')
  /** Orders as a new guest of this network. Without `payment` the guest chooses later. */
  const asGuest = (items: object[], { network = home, payment = undefined as object | undefined } = {}) => {
    const email = `guest-${crypto.randomUUID()}@example.com`
    const body = { items, email, shipping_address: STOCKHOLM, payment }
    return shop.anonymous.post('/api/orders/guest', body, { 'x-forwarded-for': network })
  }
  return {
    ...shop,
    auth,
    asGuest,
    settings: all,
    /** Units that unpaid orders reserve, by variant. Asserts that each row matches its order, and the total the rows. */
    units: async (variants: readonly string[] = [shop.mug]) => {
      const wrong = await shop.sql(
        `with expected as (
           select orders.id as order_id, variant_id, sum(ordered - canceled - fulfilled)::int as units
           from orders.orders join orders.lines on lines.order_id = orders.id
             join inventory.items on items.id = variant_id and tracked
           where is_deferred and state in ('pending', 'placed') and payment_status in ('unpaid', 'partially_paid')
           group by orders.id, variant_id having sum(ordered - canceled - fulfilled) > 0
         )
         select * from expected full join orders.unpaid_units as kept using (order_id, variant_id)
         where expected.units is distinct from kept.units and variant_id = any ($1)`,
        [variants]
      )
      expect(wrong).toEqual([])
      const [unverified] = await shop.sql(
        `select units = (select coalesce(sum(units), 0) from orders.unpaid_units where not is_verified) as is_right
         from orders.unverified_units`
      )
      expect(unverified).toEqual({ is_right: true })
      return shop.sql(
        `select variant_id, sum(units)::int as units from orders.unpaid_units
         where variant_id = any ($1) group by 1 order by 1`,
        [variants]
      )
    },
    reservedUnits: async (variants: readonly string[]) => {
      const [row] = await shop.sql(
        `select coalesce(sum(quantity), 0)::int as units from inventory.reservations
         where state <> 'closed' and item_id = any ($1)`,
        [variants]
      )
      return row?.units as number
    }
  }
}

test('a guest who orders all stock by bank transfer gets at most half, and a card buyer the rest', async () => {
  const shop = await useSiege()
  const variants = [shop.mug, ...(await Promise.all(Array.from({ length: 9 }, () => shop.sell())))]
  for (const id of variants) await shop.stock(id, 100)
  const refusals = async () => {
    const { text } = await shop.request('GET', '/metrics')
    return Number(
      /^cartwright_orders_unpaid_stock_refusals_total\{scope="buyer"\} (\d+)$/m.exec(text)?.[1] ?? 0
    )
  }
  const before = await refusals()
  const everything = (quantity: number) => variants.map(id => itemOf(id, quantity))
  for (const method of METHODS)
    for (const quantity of [99, 60, 50, 40, 10]) {
      const { status, json } = await shop.asGuest(everything(quantity), { payment: by(method) })
      if (status !== 201) expect([LIMITED, 'INVENTORY_SHORT']).toContain(json.code)
    }
  expect(await shop.reservedUnits(variants)).toBe(500)
  for (const { units } of await shop.units(variants)) expect(units).toBe(50)
  expect(await refusals()).toBeGreaterThan(before)
  const card = await shop.as(customer()).post('/api/orders', { ...sent(shop.mug, 50) })
  expect([card.status, card.json.code]).toEqual([201, undefined])
})

describe.each(METHODS)('an unpaid order by %s', method => {
  test('an unpaid order above a stock limit is rejected with the allowed units, and reserves no stock', async () => {
    const shop = await useSiege()
    await shop.stock(shop.mug, 20)
    const refused = await shop.asGuest([itemOf(shop.mug, 11)], { payment: by(method) })
    expect(refused.json).toMatchObject({
      status: 409,
      code: LIMITED,
      scope: 'buyer',
      items: [{ variant_id: shop.mug, requested: 11, allowed: 10 }]
    })
    await expect.poll(() => shop.reserved(shop.mug)).toEqual([])
    const admitted = await shop.asGuest([itemOf(shop.mug, 10)], { payment: by(method) })
    expect([admitted.status, admitted.text]).toEqual([201, admitted.text])
    expect(await shop.units()).toEqual([{ variant_id: shop.mug, units: 10 }])
  })

  test('the limit of unpaid stock also applies when the buyer chooses the payment method after the order', async () => {
    const shop = await useSiege()
    await shop.stock(shop.mug, 40)
    const { json: order } = await shop.asGuest([itemOf(shop.mug, 25)])
    const token = { 'x-order-token': order.order_token }
    const choose = (payment: object) =>
      shop.anonymous.post('/api/payments/guest/intent', { order_id: order.id, ...payment }, token)
    const refused = await choose(by(method))
    expect([refused.status, refused.json.code]).toEqual([409, LIMITED])
    expect(await shop.units()).toEqual([])
    // Fifteen units are left.
    const { json: other } = await shop.asGuest([itemOf(shop.mug, 7)])
    const chosen = await shop.anonymous.post(
      '/api/payments/guest/intent',
      { order_id: other.id, ...by(method) },
      { 'x-order-token': other.order_token }
    )
    expect([chosen.status, chosen.text]).toEqual([201, chosen.text])
    expect(await shop.units()).toEqual([{ variant_id: shop.mug, units: 7 }])
    // Its units count for the next order of the same network.
    const next = await shop.asGuest([itemOf(shop.mug, 2)], { payment: by(method) })
    expect(next.json).toMatchObject({ code: LIMITED, scope: 'network', items: [{ allowed: 0 }] })
  })

  test('an order stops counting as unpaid stock when it is paid, and when it is canceled', async () => {
    const shop = await useSiege()
    await shop.stock(shop.mug, 20)
    const order = () => shop.asGuest([itemOf(shop.mug, 10)], { payment: by(method) })
    const first = await order()
    expect((await order()).json.code).toBe(LIMITED)
    await shop.pay(first.json.id)
    expect(await shop.units()).toEqual([])

    await shop.stock(shop.mug, 30)
    const second = await order()
    expect(second.status).toBe(201)
    const canceled = await shop.admin.post(`/api/admin/orders/${second.json.id}/cancel`, {})
    expect([canceled.status, canceled.json.status]).toEqual([200, 'canceled'])
    expect(await shop.units()).toEqual([])
  })
})

test('shipped or canceled units stop counting as unpaid stock, and count again when the shipment is voided', async () => {
  const shop = await useSiege()
  await shop.stock(shop.mug, 20)
  const { json } = await shop.asGuest([itemOf(shop.mug, 10)], { payment: by('on_account') })
  const act = async (what: string, body: object) => {
    const { status, text, json: order } = await shop.admin.post(`/api/admin/orders/${json.id}/${what}`, body)
    expect(status, text).toBe(200)
    return order
  }
  await act('cancel', { lines: [{ line: 1, quantity: 2 }] })
  expect(await shop.units()).toEqual([{ variant_id: shop.mug, units: 8 }])
  const shipped = await act('shipments', { lines: [{ line: 1, quantity: 3 }] })
  expect(await shop.units()).toEqual([{ variant_id: shop.mug, units: 5 }])
  await act(`shipments/${shipped.shipments[0].id}/void`, { reason: 'wrong parcel' })
  expect(await shop.units()).toEqual([{ variant_id: shop.mug, units: 8 }])
})

test('unpaid orders of guests from many networks leave a fifth of the stock to verified customers and to cards', async () => {
  const shop = await useSiege()
  await shop.stock(shop.mug, 100)
  const codes: string[] = []
  for (let network = 1; network <= 12; network += 1) {
    const { status, json } = await shop.asGuest([itemOf(shop.mug, 10)], {
      network: `198.51.100.${network}`,
      payment: by('bank_transfer')
    })
    codes.push(status === 201 ? 'ordered' : `${json.code} ${json.scope}`)
  }
  expect(codes).toEqual([...Array(8).fill('ordered'), ...Array(4).fill(`${LIMITED} unverified`)])
  const [stranger, known] = [customer(), customer()]
  shop.auth.addContact({ id: stranger.id, email: `${stranger.id}@example.com` })
  shop.auth.addContact({ id: known.id, email: `${known.id}@example.com`, emailVerified: true })
  const order = { ...sent(shop.mug, 10), payment: by('bank_transfer') }
  const fromHome = { 'x-forwarded-for': '203.0.113.9' }
  expect((await shop.as(stranger).post('/api/orders', order, fromHome)).json.scope).toBe('unverified')
  // Also when there is less stock by now, and unverified buyers have more than their share.
  await shop.stock(shop.mug, 95)
  const admitted = await shop.as(known).post('/api/orders', order, fromHome)
  expect([admitted.status, admitted.json.code]).toEqual([201, undefined])
})

test('addresses of one IPv6 network share one limit of unpaid stock', async () => {
  const shop = await useSiege({ CARTWRIGHT__ORDERS__UNPAID_STOCK__NETWORK__UNITS_MAX: '15' })
  await shop.stock(shop.mug, 100)
  const order = (network: string) =>
    shop.asGuest([itemOf(shop.mug, 10)], { network, payment: by('bank_transfer') })
  expect((await order('2001:db8:1:2::1')).status).toBe(201)
  expect((await order('2001:db8:1:2:ffff::9')).json).toMatchObject({ scope: 'network', limit: 15 })
  expect((await order('2001:db8:1:3::1')).status).toBe(201)
})

test('variants without a limit of unpaid stock are not limited, nor are orders of administrators', async () => {
  const shop = await useSiege()
  expect((await shop.asGuest([itemOf(shop.mug, 99)], { payment: by('on_account') })).status).toBe(201)
  expect(await shop.units()).toEqual([])
  const pot = await shop.sell()
  await shop.stock(pot, 20)
  const assisted = { ...sent(pot, 20), email: 'ada@example.com', payment: by('on_account') }
  const { status, text } = await shop.admin.post('/api/admin/orders', assisted)
  expect(status, text).toBe(201)
  expect(await shop.units([shop.mug, pot])).toEqual([])
})

test('unpaid units in a shop without payments are limited until they are shipped', async () => {
  const shop = await useOrders({ off: ['payments'] })
  await shop.stock(shop.mug, 20)
  const buyer = shop.as(customer())
  expect((await buyer.post('/api/orders', sent(shop.mug, 11))).json.code).toBe(LIMITED)
  const { json } = await buyer.post('/api/orders', sent(shop.mug, 10))
  const left = () => shop.sql('select units from orders.unpaid_units')
  expect(await left()).toEqual([{ units: 10 }])
  const { status, text } = await shop.admin.post(`/api/admin/orders/${json.id}/shipments`, {})
  expect(status, text).toBe(200)
  expect(await left()).toEqual([])
})

test("an unpaid order waits until a simultaneous one is counted, and its limit includes that one's units", async () => {
  const shop = await useSiege({ CARTWRIGHT__ORDERS__UNPAID_STOCK__NETWORK__UNITS_MAX: '20' })
  await shop.stock(shop.mug, 1_000)
  const order = () => shop.asGuest([itemOf(shop.mug, 4)], { payment: by('bank_transfer') })
  expect((await order()).status).toBe(201)
  const other = new pg.Client({ connectionString: shop.databaseUrl })
  await other.connect()
  onTestFinished(() => other.end())
  await other.query(`begin; select pg_advisory_xact_lock(hashtextextended('orders unpaid units', 0))`)
  await other.query('update orders.unpaid_units set units = units + 16 where variant_id = $1', [shop.mug])
  await other.query('update orders.unverified_units set units = units + 16')
  let isAnswered = false
  const answer = order().finally(() => {
    isAnswered = true
  })
  const waiting = () =>
    shop.sql(`select from pg_locks join pg_database on pg_database.oid = database
      where datname = current_database() and locktype = 'advisory' and not granted`)
  await until('the order waits for the lock', async () => isAnswered || (await waiting()).length > 0)
  await other.query('commit')
  const { status, json } = await answer
  expect([status, json.code, json.scope]).toEqual([409, LIMITED, 'network'])
})

test('simultaneous unpaid orders in two processes never exceed a stock limit together', async () => {
  const shop = await useSiege({ CARTWRIGHT__ORDERS__UNPAID_STOCK__NETWORK__UNITS_MAX: '20' })
  const other = await useCheckouts({ databaseUrl: shop.databaseUrl, settings: shop.settings })
  await shop.stock(shop.mug, 1_000)
  const order = (index: number) =>
    (index % 2 === 0 ? shop : other).anonymous.post(
      '/api/orders/guest',
      {
        items: [itemOf(shop.mug, 4)],
        email: `guest-${index}@example.com`,
        shipping_address: STOCKHOLM,
        payment: by('bank_transfer')
      },
      { 'x-forwarded-for': '192.0.2.7' }
    )
  const answers = await Promise.all(Array.from({ length: 24 }, (_, index) => order(index)))
  const refused = answers.filter(({ status }) => status !== 201)
  for (const { status, json } of refused) expect([status, json.code]).toEqual([409, LIMITED])
  expect(refused).toHaveLength(19)
  expect(await shop.units()).toEqual([{ variant_id: shop.mug, units: 20 }])
})

test('simultaneous unpaid orders of guests in many networks never exceed the limit of unverified buyers together', async () => {
  const shop = await useSiege({ CARTWRIGHT__ORDERS__UNPAID_STOCK__UNVERIFIED__UNITS_MAX: '20' })
  await shop.stock(shop.mug, 1_000)
  const network = () => ownNetworks()('other')
  const order = () =>
    shop.asGuest([itemOf(shop.mug, 4)], { network: network(), payment: by('bank_transfer') })
  const answers = await Promise.all(Array.from({ length: 12 }, order))
  const refused = answers.filter(({ status }) => status !== 201)
  for (const { json } of refused) expect([json.code, json.scope]).toEqual([LIMITED, 'unverified'])
  expect(await shop.units()).toEqual([{ variant_id: shop.mug, units: 20 }])
})

test('orders that are counted together count each other, and the units of earlier orders', async () => {
  const shop = await useSiege()
  await shop.stock(shop.mug, 1_000)
  const network = ownNetworks()('theirs')
  expect((await shop.asGuest([itemOf(shop.mug, 2)], { payment: by('bank_transfer') })).status).toBe(201)
  const [first, second] = await Promise.all(
    [3, 4].map(async quantity =>
      String((await shop.asGuest([itemOf(shop.mug, quantity)], { network })).json.id)
    )
  )
  const [kept] = await shop.sql('select units::int from orders.unverified_units')
  const client = new pg.Client({ connectionString: shop.databaseUrl })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('begin')
  const wanted = [first, second].map(order_id => ({ order_id, variant_ids: [shop.mug], network: null }))
  const { rows } = await client.query(insertUnpaidUnits.text, [JSON.stringify(wanted)])
  await client.query('rollback')
  const counts = rows.map(row =>
    Object.values(row).map(count => (count === shop.mug ? 'mug' : Number(count)))
  )
  const unverified = Number(kept?.units) + 7
  expect(Object.keys(rows[0])).toEqual(Object.keys(insertUnpaidUnits.gives))
  expect(counts.toSorted()).toEqual([
    // at, variant, requested, reserved; of buyer, network, unverified; and of all variants
    [1, 'mug', 3, 9, 3, 7, 9, 3, 7, unverified],
    [2, 'mug', 4, 9, 4, 7, 9, 4, 7, unverified]
  ])
})

const hoursOf = ({ created_at, expires_at }: { created_at: string; expires_at: string }) =>
  (Date.parse(expires_at) - Date.parse(created_at)) / 3_600_000
const WEEK_HOURS = 7 * 24

test('an unpaid order by bank transfer expires after a day, or after a week for a verified buyer', async () => {
  const shop = await useSiege()
  const [ada, bob] = [customer(), customer()]
  shop.auth.addContact({ id: ada.id, email: `${ada.id}@example.com`, emailVerified: true })
  shop.auth.addContact({ id: bob.id, email: `${bob.id}@example.com` })
  const order = async (caller: { token: string }) =>
    (await shop.as(caller).post('/api/orders', { ...sent(shop.mug), payment: by('bank_transfer') })).json
  expect(hoursOf(await order(ada))).toBe(WEEK_HOURS)
  const ofBob = await order(bob)
  expect(hoursOf(ofBob)).toBe(24)
  const { json: ofGuest } = await shop.asGuest([itemOf(shop.mug)], { payment: by('bank_transfer') })
  expect(hoursOf(ofGuest)).toBe(24)

  shop.auth.addContact({ id: bob.id, email: `${bob.id}@example.com`, emailVerified: true })
  await shop.sql(
    `update orders.orders set created_at = created_at - interval '25 hours',
    expires_at = expires_at - interval '25 hours' where id = any ($1)`,
    [[ofBob.id, ofGuest.id]]
  )
  await doOnceMore(shop, 'orders.expire_orders')
  const read = async (id: string) => (await shop.admin.get(`/api/admin/orders/${id}`)).json
  await expect.poll(async () => (await read(ofGuest.id)).status).toBe('canceled')
  const waiting = await read(ofBob.id)
  expect([waiting.status, hoursOf(waiting)]).toEqual(['pending', WEEK_HOURS])
})
