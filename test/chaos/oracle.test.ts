import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { sent, TRANSFER, useOrders } from '../support/orders.ts'
import { brokenRules } from './oracle.ts'

/** A shop with two orders of mugs by bank transfer: the transfer of the first has arrived, that of the second has not. */
async function useShopWithOrders() {
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

/** Statements that each break one rule for the order $1, with a part of the name of that rule. */
const RULE_VIOLATIONS: readonly [rule: string, order: 'paid' | 'unpaid', text: string][] = [
  ['the total of an order', 'paid', 'update orders.orders set total = total + 1 where id = $1'],
  ['a sum of an order', 'paid', 'update orders.orders set subtotal = subtotal + 1 where id = $1'],
  ['what tenders cover', 'paid', 'update orders.orders set tendered = 1 where id = $1'],
  [
    'a tender that was not given back',
    'paid',
    `insert into orders.tenders (id, order_id, position, type, label, amount) values ($1, $1, 0, 'gift_card', '', 1);
     update orders.orders set state = 'canceled' where id = $1`
  ],
  [
    'the item components of a line',
    'paid',
    'update orders.lines set ordered = ordered + 1 where order_id = $1'
  ],
  [
    'version of a cart has two orders',
    'paid',
    `drop index orders.orders_of_cart; update orders.orders set cart_id = $1, cart_version = 1`
  ],
  [
    'checkout has two orders',
    'paid',
    `drop index orders.orders_of_checkout; update orders.orders set checkout_id = $1`
  ],
  ['has no lines', 'paid', 'delete from orders.history where order_id = $1'],
  [
    'the units reserved for an order',
    'paid',
    'update inventory.reservations set quantity = quantity + 1 where owner = $1'
  ],
  [
    'the units reserved for an order',
    'paid',
    `update inventory.reservations set state = 'closed', closed_at = now() where owner = $1`
  ],
  [
    'the units reserved for an order',
    'unpaid',
    `insert into inventory.contested (owner, item_id, quantity) select owner, item_id, 1 from inventory.reservations where owner = $1`
  ],
  [
    'has contested units',
    'paid',
    `insert into inventory.contested (owner, item_id, quantity) select owner, item_id, 1 from inventory.reservations where owner = $1`
  ],
  [
    'a reservation without an order',
    'unpaid',
    `update inventory.reservations set state = 'held', expires_at = now() where owner = $1`
  ],
  ['is not confirmed', 'paid', `update inventory.reservations set state = 'claimed' where owner = $1`],
  [
    'a stock request',
    'paid',
    `insert into inventory.requests (id, kind, owner, lines) values (gen_random_uuid(), 'release', $1, '[]')`
  ],
  ['a payment that is still open', 'unpaid', `update orders.orders set state = 'canceled' where id = $1`],
  [
    'never completed',
    'paid',
    `update orders.orders set cancel_requested_at = now(), cancel_requested_by = 'admin' where id = $1`
  ],
  [
    'the credits of an order',
    'paid',
    `insert into orders.adjustments (id, order_id, kind, amount, back)
     select gen_random_uuid(), id, 'refund', total + 1, 0 from orders.orders where id = $1`
  ],
  ['is not marked as overpaid', 'paid', 'update payments.accounts set due = due - 1 where order_id = $1'],
  [
    'the refunds of a payment',
    'paid',
    'update payments.payments set refunded = captured + 1 where order_id = $1'
  ],
  [
    'the sums of its facts',
    'paid',
    'update payments.payments set captured = captured + 1 where order_id = $1'
  ],
  [
    'the sums of its payments',
    'paid',
    'update payments.accounts set captured = captured + 1 where order_id = $1'
  ],
  [
    'the payment status of an order',
    'paid',
    `update orders.orders set payment_status = 'unpaid' where id = $1`
  ],
  ['is still pending', 'paid', `update orders.orders set state = 'pending' where id = $1`],
  [
    'placed without an authorization',
    'unpaid',
    `update orders.orders set state = 'placed', placed_at = now() where id = $1`
  ],
  [
    'placed twice',
    'paid',
    `insert into orders.history (order_id, action, to_state) values ($1, 'place', 'placed')`
  ],
  ['the units in its shipments', 'paid', 'update orders.lines set fulfilled = 1 where order_id = $1'],
  [
    'units of a canceled order were shipped',
    'paid',
    `update orders.lines set fulfilled = 1 where order_id = $1; update orders.orders set state = 'canceled' where id = $1`
  ],
  [
    'the counted unpaid units',
    'unpaid',
    'update orders.unpaid_units set units = units + 1 where order_id = $1'
  ],
  ['the counted unpaid units', 'unpaid', 'delete from orders.unpaid_units where order_id = $1'],
  [
    'the counted unpaid units',
    'paid',
    'insert into orders.unpaid_units select $1, variant_id, 1, buyer, network, is_verified from orders.unpaid_units'
  ],
  ['the total of unverified units', 'paid', 'update orders.unverified_units set units = units + 1'],
  ['promotions for first orders', 'paid', 'update pricing.promotions set first_order_only = true'],
  [
    'the counter of a promotion or code',
    'paid',
    'update pricing.usage_limits set taken = taken - 1 where taken > 0'
  ],
  ['the counter of a customer and a promotion', 'paid', 'update pricing.customer_uses set taken = taken - 1'],
  ['without a redemption', 'paid', 'delete from pricing.redemptions where owner = $1'],
  [
    'a redemption belongs to',
    'paid',
    'update pricing.redemptions set owner = gen_random_uuid() where owner = $1'
  ],
  [
    'has no outcome',
    'paid',
    `update payments.operations set state = 'unknown', settled_at = null, next_check_at = now() where order_id = $1`
  ],
  [
    'a stored callback',
    'paid',
    `insert into payments.events (id, provider, event_id, type, next_check_at) values ($1, 'sandbox', 'evt_1', 'any', now())`
  ],
  [
    'an event or job was never handled',
    'paid',
    `insert into cartwright.jobs (handler, subject, event_id, payload) values ('any', $1, $1, '{}')`
  ],
  ['the stock ledger', 'paid', 'update inventory.levels set reserved = reserved + 1']
]

test('the chaos judge finds no broken rule in an intact shop, and for each wrong row the rule about it', async () => {
  const shop = await useShopWithOrders()
  expect(await brokenRules(shop)).toEqual([])
  const client = new pg.Client({ connectionString: shop.databaseUrl })
  await client.connect()
  onTestFinished(() => client.end())
  const sql = async (text: string) => (await client.query(text)).rows
  for (const [rule, order, text] of RULE_VIOLATIONS) {
    await sql(`begin; ${text.replaceAll('$1', `'${shop[order]}'`)}`)
    expect((await brokenRules({ sql })).join('\n'), text).toContain(rule)
    await sql('rollback')
  }
})
