import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { sent, TRANSFER, useOrders } from '../support/orders.ts'
import { brokenRules } from './oracle.ts'

/** A shop that has sold one mug for a transfer that has come, and another one for one that has not. */
async function useBooks() {
  const shop = await useOrders()
  const tenth = { name: 'Less', class: 'order', effect: { type: 'percentage', percentage_ppm: 100_000 } }
  const { id } = await shop.made('promotions', {
    ...tenth,
    needs_code: true,
    uses_max: 9,
    uses_per_customer: 9
  })
  await shop.made(`promotions/${id}/codes`, { code: 'TENTH' })
  await shop.stock(shop.mug, 100)
  const order = async () => {
    const body = { ...sent(shop.mug, 2), email: 'ada@example.com', payment: TRANSFER, codes: ['TENTH'] }
    const { status, json, text } = await shop.anonymous.post('/api/orders/guest', body)
    expect(status, text).toBe(201)
    return String(json.id)
  }
  const paid = await order()
  await shop.pay(paid)
  return { ...shop, paid, unpaid: await order() }
}

/** How a rule can be broken, for the order $1, and a part of its name. */
const BREACHES: readonly [rule: string, order: 'paid' | 'unpaid', text: string][] = [
  ['a total is not', 'paid', 'update orders.orders set total = total + 1 where id = $1'],
  ['the sums of an order', 'paid', 'update orders.orders set subtotal = subtotal + 1 where id = $1'],
  ['the components of a line', 'paid', 'update orders.lines set ordered = ordered + 1 where order_id = $1'],
  [
    'cart version has two',
    'paid',
    `drop index orders.orders_of_cart; update orders.orders set cart_id = $1, cart_version = 1`
  ],
  [
    'checkout has two',
    'paid',
    `drop index orders.orders_of_checkout; update orders.orders set checkout_id = $1`
  ],
  ['has no lines', 'paid', 'delete from orders.history where order_id = $1'],
  [
    'what is reserved for an order',
    'paid',
    'update inventory.reservations set quantity = quantity + 1 where owner = $1'
  ],
  [
    'what is reserved for an order',
    'paid',
    `update inventory.reservations set state = 'closed', closed_at = now() where owner = $1`
  ],
  [
    'what is reserved for an order',
    'unpaid',
    `insert into inventory.contested (owner, item_id, quantity) select owner, item_id, 1 from inventory.reservations where owner = $1`
  ],
  [
    'contests stock',
    'paid',
    `insert into inventory.contested (owner, item_id, quantity) select owner, item_id, 1 from inventory.reservations where owner = $1`
  ],
  [
    'stock is reserved without an order',
    'unpaid',
    `update inventory.reservations set state = 'held', expires_at = now() where owner = $1`
  ],
  ['is not confirmed', 'paid', `update inventory.reservations set state = 'claimed' where owner = $1`],
  [
    'was never done',
    'paid',
    `insert into inventory.requests (id, kind, owner, lines) values (gen_random_uuid(), 'release', $1, '[]')`
  ],
  ['may still be paid', 'unpaid', `update orders.orders set state = 'canceled' where id = $1`],
  [
    'was never finished',
    'paid',
    `update orders.orders set cancel_requested_at = now(), cancel_requested_by = 'admin' where id = $1`
  ],
  [
    'more was credited',
    'paid',
    `insert into orders.adjustments (id, order_id, kind, amount, back)
     select gen_random_uuid(), id, 'refund', total + 1, 0 from orders.orders where id = $1`
  ],
  [
    'and the account does not say so',
    'paid',
    'update payments.accounts set due = due - 1 where order_id = $1'
  ],
  ['more went back', 'paid', 'update payments.payments set refunded = captured + 1 where order_id = $1'],
  ['what its facts say', 'paid', 'update payments.payments set captured = captured + 1 where order_id = $1'],
  [
    'the sum of its payments',
    'paid',
    'update payments.accounts set captured = captured + 1 where order_id = $1'
  ],
  ['does not say what its', 'paid', `update orders.orders set payment_status = 'unpaid' where id = $1`],
  ['waits for it', 'paid', `update orders.orders set state = 'pending' where id = $1`],
  [
    'placed without money',
    'unpaid',
    `update orders.orders set state = 'placed', placed_at = now() where id = $1`
  ],
  [
    'placed twice',
    'paid',
    `insert into orders.history (order_id, action, to_state) values ($1, 'place', 'placed')`
  ],
  ['what was sent', 'paid', 'update orders.lines set fulfilled = 1 where order_id = $1'],
  [
    'of a canceled order was sent',
    'paid',
    `update orders.lines set fulfilled = 1 where order_id = $1; update orders.orders set state = 'canceled' where id = $1`
  ],
  ['unpaid units are not', 'unpaid', 'update orders.unpaid_units set units = units + 1 where order_id = $1'],
  ['unpaid units are not', 'unpaid', 'delete from orders.unpaid_units where order_id = $1'],
  [
    'unpaid units are not',
    'paid',
    'insert into orders.unpaid_units select $1, variant_id, 1, buyer, network, is_verified from orders.unpaid_units'
  ],
  ['two first orders', 'paid', 'update pricing.promotions set first_order_only = true'],
  ['than it is counted', 'paid', 'update pricing.budgets set taken = taken - 1 where taken > 0'],
  ['a customer used a promotion', 'paid', 'update pricing.customer_uses set taken = taken - 1'],
  ['that was not used', 'paid', 'delete from pricing.redemptions where owner = $1'],
  ['no live order', 'paid', 'update pricing.redemptions set owner = gen_random_uuid() where owner = $1'],
  [
    'was never answered',
    'paid',
    `update payments.operations set state = 'unknown', settled_at = null, next_check_at = now() where order_id = $1`
  ],
  [
    'never applied',
    'paid',
    `insert into payments.events (id, provider, event_id, type) values ($1, 'sandbox', 'evt_1', 'any')`
  ],
  [
    'never done',
    'paid',
    `insert into cartwright.jobs (handler, subject, event_id, payload) values ('any', $1, $1, '{}')`
  ],
  ['books of the stock', 'paid', 'update inventory.levels set reserved = reserved + 1']
]

test('a shop that nothing happened to breaks no rule, and whatever is wrong breaks its own', async () => {
  const shop = await useBooks()
  expect(await brokenRules(shop)).toEqual([])
  const client = new pg.Client({ connectionString: shop.databaseUrl })
  await client.connect()
  onTestFinished(() => client.end())
  const sql = async (text: string) => (await client.query(text)).rows
  for (const [rule, order, text] of BREACHES) {
    await sql(`begin; ${text.replaceAll('$1', `'${shop[order]}'`)}`)
    expect((await brokenRules({ sql })).join('\n'), text).toContain(rule)
    await sql('rollback')
  }
})
