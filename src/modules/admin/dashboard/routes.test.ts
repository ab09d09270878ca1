import { expect, test } from 'vitest'
import { CHECKOUT_MODULES } from '../../../../test/support/checkouts.ts'
import { sent, TRANSFER, useOrders } from '../../../../test/support/orders.ts'
import { useShop } from '../../../../test/support/use-shop.ts'
import { HIGHEST_ID, LOWEST_ID, newId } from '../../../kernel/ids.ts'
import { admin, customer } from '../../../testing.ts'
import { adminModule } from '../index.ts'

const DASHBOARD = '/api/admin/dashboard?from=2026-03-28&to=2026-03-30'
const MANY = 5_000

test('the dashboard sums orders, revenue and low stock by days in the time zone of the shop', async () => {
  const shop = await useOrders({
    modules: [...CHECKOUT_MODULES, adminModule],
    settings: { CARTWRIGHT__SHOP__TIME_ZONE: 'Europe/Berlin' }
  })
  const low = { tracked: true, low_threshold: 5 }
  expect((await shop.admin.patch(`/api/inventory/items/${shop.mug}`, low)).status).toBe(200)
  await shop.stock(shop.mug, 8)
  const order = async (quantity: number): Promise<{ id: string; total: number }> => {
    const body = { ...sent(shop.mug, quantity), payment: TRANSFER }
    const { status, json, text } = await shop.as(customer()).post('/api/orders', body)
    expect(status, text).toBe(201)
    return json
  }
  const [paid, unpaid, other] = [await order(3), await order(1), await order(1)]
  for (const { id } of [paid, other]) await shop.pay(id)
  expect((await shop.admin.post(`/api/admin/orders/${unpaid.id}/cancel`, {})).status).toBe(200)
  // On the 29th, clocks go forward at two: in Berlin that day begins at 23:00 UTC and ends at 22:00.
  const at = (id: string, time: string) =>
    shop.sql('update orders.orders set created_at = $2 where id = $1', [id, time])
  await at(paid.id, '2026-03-28T23:00:00Z')
  await at(unpaid.id, '2026-03-29T21:59:59.999Z')
  await at(other.id, '2026-03-29T22:00:00Z')
  const setRecordedAt = `update payments.facts set seen_at = $2
    where payment_id in (select id from payments.payments where order_id = $1)`
  await shop.sql(setRecordedAt, [paid.id, '2026-03-28T22:59:59.999Z'])
  await shop.sql(setRecordedAt, [other.id, '2026-03-30T21:59:59.999Z'])

  const first = await shop.record(() => shop.admin.get(DASHBOARD))
  const { status, json, text } = first.result
  expect(status, text).toBe(200)
  const money = (captured: number) => ({ currency: 'USD', captured, refunded: 0, net: captured })
  expect(json).toMatchObject({
    from: '2026-03-28',
    to: '2026-03-30',
    time_zone: 'Europe/Berlin',
    orders: {
      made: 3,
      placed: 2,
      canceled: 1,
      units: 4,
      totals: [
        {
          currency: 'USD',
          orders: 2,
          total: paid.total + other.total,
          average: Math.round((paid.total + other.total) / 2)
        }
      ],
      top_products: [{ units: 4 }]
    },
    revenue: [money(paid.total + other.total)],
    low_stock: { total: 1, items: [{ id: shop.mug, low_threshold: 5 }] },
    trouble: { dead_events: 0, quarantined_payments: 0 },
    days: [
      {
        day: '2026-03-28',
        orders: { made: 0, placed: 0, units: 0, totals: [] },
        revenue: [money(paid.total)]
      },
      { day: '2026-03-29', orders: { made: 2, placed: 1, canceled: 1, units: 3 }, revenue: [] },
      {
        day: '2026-03-30',
        orders: { made: 1, units: 1, totals: [{ total: other.total }] },
        revenue: [money(other.total)]
      }
    ]
  })
  expect(json.latency.requests).toBeGreaterThan(0)
  expect(json.latency.p50_ms).toBeLessThanOrEqual(json.latency.p99_ms)
  const statisticStatements = [
    ...['inventory.count_low_stock', 'inventory.list_low_stock', 'orders.sum_of_days'],
    ...['orders.sum_of_units', 'outbox.count_failed', 'payments.count_quarantined'],
    'payments.sum_of_days'
  ]
  expect(first.statements.filter(name => statisticStatements.includes(name)).sort()).toEqual(
    statisticStatements
  )
  const again = await shop.record(() => shop.admin.get(DASHBOARD))
  expect(again.statements.filter(name => statisticStatements.includes(name))).toEqual([])

  const wrong = ['from=2026-02-30', 'from=2026-03-02&to=2026-03-01', 'from=2020-01-01&to=2026-01-01']
  for (const period of [...wrong, 'to=0001-01-01', 'from=0000-01-01&to=0000-01-02'])
    expect((await shop.admin.get(`/api/admin/dashboard?${period}`)).status).toBe(400)
  await expectPlans(shop, paid.id)
  await expectSums(shop)
})

test('in the dashboard, canceled units count neither in units nor in totals; returned units count in both', async () => {
  const shop = await useOrders({ modules: [...CHECKOUT_MODULES, adminModule] })
  const body = { ...sent(shop.mug, 4), payment: TRANSFER }
  const { json: order } = await shop.as(customer()).post('/api/orders', body)
  await shop.pay(order.id)
  const one = { lines: [{ line: 1, quantity: 1 }] }
  for (const [action, body] of [
    ['cancel', one],
    ['shipments', {}],
    ['returns', one],
    ['refunds', { amount: 100, reason: 'dented' }]
  ] as const) {
    const { status, text } = await shop.admin.post(`/api/admin/orders/${order.id}/${action}`, body)
    expect(status, text).toBeLessThan(300)
  }
  const { adjustments } = (await shop.admin.get(`/api/admin/orders/${order.id}`)).json
  expect(adjustments.map(({ kind }: { kind: string }) => kind)).toEqual(['cancel', 'refund'])
  const total = order.total - adjustments[0].amount
  expect(total).toBeLessThan(order.total)
  const { json } = await shop.admin.get('/api/admin/dashboard')
  const sold = { units: 3, totals: [{ currency: 'USD', orders: 1, total, average: total }] }
  expect(json).toMatchObject({ orders: { ...sold, top_products: [{ units: 3 }] } })
  expect(json.days.at(-1).orders).toMatchObject(sold)
})

/** Checks that the days of a year with both clock changes equal calendar days and add up to the period. */
async function expectSums(shop: Awaited<ReturnType<typeof useOrders>>) {
  await shop.sql(`update orders.orders set created_at = timestamptz '2025-10-24T00:00Z'
    + substring(number from 2)::int * interval '103 minutes' where number ~ '^N[0-9]+$'`)
  const [from, to] = ['2025-10-25', '2026-10-25']
  const { status, json, text } = await shop.admin.get(`/api/admin/dashboard?from=${from}&to=${to}`)
  expect(status, text).toBe(200)
  const counted = await shop.sql(
    `select to_char(created_at at time zone 'Europe/Berlin', 'YYYY-MM-DD') as day, count(distinct orders.id)::int as made,
       sum(ordered - canceled)::int as units
     from orders.orders join orders.lines on order_id = orders.id
     where state <> 'canceled' and (created_at at time zone 'Europe/Berlin')::date between $1 and $2
     group by 1 order by 1`,
    [from, to]
  )
  type Day = {
    day: string
    orders: { made: number; canceled: number; units: number; totals: { total: number }[] }
  }
  const days = json.days as Day[]
  const kept = days.map(({ day, orders: { made, canceled, units } }) => ({
    day,
    made: made - canceled,
    units
  }))
  expect(kept.filter(({ made }) => made > 0)).toEqual(counted)
  expect(days).toHaveLength(366)
  const sumOf = (read: (orders: Day['orders']) => number) =>
    days.reduce((sum, { orders }) => sum + read(orders), 0)
  expect(sumOf(({ units }) => units)).toBe(json.orders.units)
  expect(sumOf(({ made }) => made)).toBe(json.orders.made)
  expect(sumOf(({ totals }) => totals[0]?.total ?? 0)).toBe(json.orders.totals[0].total)
}

/** Checks that the orders and facts of a few days are found by an index. */
async function expectPlans(shop: Awaited<ReturnType<typeof useOrders>>, orderId: string) {
  const columnsOf = async (table: string, without: string) => {
    const [row] = await shop.sql(
      `select string_agg(quote_ident(column_name), ', ') as columns from information_schema.columns
       where table_schema || '.' || table_name = $1 and is_generated = 'NEVER'
         and column_name <> all (string_to_array($2, ' '))`,
      [table, without]
    )
    return String(row?.columns)
  }
  const orders = await columnsOf('orders.orders', 'id number created_at checkout_id cart_id cart_version')
  await shop.sql(
    `insert into orders.orders (id, number, created_at, ${orders})
     select gen_random_uuid(), 'N' || n, now() - n * interval '10 minutes', ${orders}
     from orders.orders, generate_series(1, ${MANY}) n where id = $1`,
    [orderId]
  )
  for (const table of ['orders.groups', 'orders.lines']) {
    const columns = await columnsOf(table, 'order_id')
    await shop.sql(
      `insert into ${table} (order_id, ${columns})
       select orders.id, ${columns.replace(/[^ ]+/g, 'model.$&')} from ${table} as model, orders.orders
       where model.order_id = $1 and orders.number like 'N%' and orders.id <> $1
         and not exists (select from ${table} as present where present.order_id = orders.id)`,
      [orderId]
    )
  }
  const facts = await columnsOf('payments.facts', 'object_id seen_at')
  await shop.sql(
    `insert into payments.facts (object_id, seen_at, ${facts})
     select n::text, now() - n * interval '10 minutes', ${facts}
     from (select * from payments.facts where kind = 'capture' limit 1) fact, generate_series(1, ${MANY}) n`
  )
  await shop.sql('analyze orders.orders, payments.facts, orders.lines')
  const { listDeclaredStatements } = await import('../../../platform/postgres/statement.ts')
  const starts = [new Date(Date.now() - 86_400_000).toISOString()]
  const given: Record<string, unknown> = {
    starts,
    end: new Date(),
    limit: 10,
    first: LOWEST_ID,
    last: HIGHEST_ID
  }
  const summed = ['orders.sum_of_days', 'orders.sum_of_units', 'payments.sum_of_days']
  for (const { name, takes, text } of listDeclaredStatements().filter(each => summed.includes(each.name))) {
    const values = Object.keys(takes).map(key => given[key])
    const plan = (await shop.sql(`explain ${text}`, values)).map(row => row['QUERY PLAN']).join('\n')
    expect(plan, `${name}\n${plan}`).toMatch(/orders_figures|facts_money/)
  }
}

test('dashboard statistics of disabled modules are null', async () => {
  const shop = await useShop({ modules: [adminModule] })
  const { json } = await shop.as(admin(newId())).get('/api/admin/dashboard')
  expect(json).toMatchObject({
    orders: null,
    revenue: null,
    low_stock: null,
    new_customers: 0,
    trouble: { dead_events: 0, quarantined_payments: null }
  })
  expect(json.days).toHaveLength(30)
  expect(json.days[0]).toMatchObject({ orders: null, revenue: null })
})
