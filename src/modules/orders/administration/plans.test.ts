import { expect, test } from 'vitest'
import { sent, useOrders } from '../../../../test/support/orders.ts'
import { customer } from '../../../testing.ts'
import { listAllOrders } from './repository.ts'

const MANY = 20_000

test(`each filter of the order list reads a page of ${MANY} orders by an index`, async () => {
  const shop = await useOrders()
  const { json } = await shop
    .as(customer())
    .post('/api/orders', { ...sent(shop.mug), email: 'ada@example.com' })
  const [{ columns } = { columns: '' }] = await shop.sql(
    `select string_agg(quote_ident(column_name), ', ') as columns from information_schema.columns
     where table_schema = 'orders' and table_name = 'orders' and is_generated = 'NEVER'
       and column_name not in ('id', 'number', 'state', 'placed_at', 'email', 'customer_id', 'created_at')`
  )
  await shop.sql(
    `insert into orders.orders (id, number, state, placed_at, email, customer_id, created_at, ${columns})
     select gen_random_uuid(), 'N' || n, 'completed', now(), 'b' || n || '@example.com', gen_random_uuid(),
       now() - n * interval '1 minute', ${columns}
     from orders.orders, generate_series(1, ${MANY}) n where orders.id = $1`,
    [json.id]
  )
  await shop.sql('analyze orders.orders')

  const names = Object.keys(listAllOrders.takes)
  const after = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
  for (const filter of [
    ...[{}, { status: 'pending' }, { payment_status: 'paid' }, { fulfillment_status: 'returned' }],
    ...[
      { status: 'pending', payment_status: 'unpaid' },
      { status: 'pending', fulfillment_status: 'none' }
    ],
    ...[
      { status: 'completed', payment_status: 'paid' },
      { status: 'completed', fulfillment_status: 'partial' }
    ],
    ...[
      { payment_status: 'unpaid', fulfillment_status: 'none' },
      { payment_status: 'unpaid', fulfillment_status: 'fulfilled' }
    ],
    ...[
      { status: 'pending', payment_status: 'paid' },
      { status: 'shipped', fulfillment_status: 'none' }
    ],
    ...[{ email: 'ADA@example.com' }, { number: json.number }, { customer_id: json.customer_id }],
    ...[{ from: new Date(Date.now() - 5_000) }, { to: new Date(Date.now() - (MANY - 3) * 60_000) }]
  ]) {
    const given: Record<string, unknown> = { after, limit: 21, ...filter }
    const values = names.map(name => given[name] ?? null)
    const plan = (await shop.sql(`explain analyze ${listAllOrders.text}`, values))
      .map(row => row['QUERY PLAN'])
      .join('\n')
    const removed = [...plan.matchAll(/Rows Removed by Filter: (\d+)/g)].map(([, rows]) => Number(rows))
    expect(Math.max(0, ...removed), `${JSON.stringify(filter)}\n${plan}`).toBeLessThan(1_000)
  }
})
