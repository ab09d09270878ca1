import type { Site } from '../faults/network/site.ts'
import { STOCK_FAULTS } from '../support/stock-ledger.ts'

/** What must not be, each as a query that finds where it is. */
const RULES: Readonly<Record<string, string>> = {
  'a total is not the sum of its components that are not included': `
    select orders.id, total, sum(amount) filter (where not included) as components
    from orders.orders left join orders.components on order_id = orders.id
    group by orders.id having total is distinct from sum(amount) filter (where not included)`,

  'the sums of an order are not those of its components': `
    select orders.id from orders.orders join orders.components on order_id = orders.id group by orders.id
    having subtotal <> coalesce(sum(amount) filter (where kind = 'item'), 0)
      or discount_total <> -coalesce(sum(amount) filter (where kind = 'discount'), 0)
      or shipping_total <> coalesce(sum(amount) filter (where kind in ('shipping', 'shipping_discount')), 0)
      or tax_total <> coalesce(sum(amount) filter (where kind = 'tax'), 0)`,

  'the components of a line do not add up': `
    select order_id, line from orders.lines join orders.components using (order_id, line)
    where kind = 'item' group by order_id, line, ordered, discounted_price
    having sum(amount) <> ordered * discounted_price`,

  'an order has no lines, or no history': `
    select id from orders.orders where not exists (select from orders.lines where order_id = orders.id)
      or (select count(*) from orders.history where order_id = orders.id and action = 'create') <> 1`,

  'a cart version has two live orders': `
    select cart_id, cart_version from orders.orders where cart_id is not null and state <> 'canceled'
    group by cart_id, cart_version having count(*) > 1`,

  'a checkout has two live orders': `
    select checkout_id from orders.orders where checkout_id is not null and state <> 'canceled'
    group by checkout_id having count(*) > 1`,

  'what is reserved for an order is not what is still to be delivered': `
    with wanted as (
      select order_id as owner, variant_id as item_id, sum(ordered - lines.canceled - fulfilled) as units
      from orders.lines join orders.orders on orders.id = order_id join inventory.items on items.id = variant_id
      where tracked and state <> 'canceled' group by order_id, variant_id
    ), held as (
      select owner, item_id, sum(quantity - fulfilled) as units from inventory.reservations
      where state in ('claimed', 'confirmed') group by owner, item_id
    ), contested as (select owner, item_id, quantity as units from inventory.contested)
    select owner, item_id, wanted.units as wanted, held.units as held, contested.units as contested
    from wanted full join held using (owner, item_id) full join contested using (owner, item_id)
    where coalesce(wanted.units, 0) <> coalesce(held.units, 0) + coalesce(contested.units, 0)`,

  'an order that is paid, placed or canceled contests stock': `
    select orders.id from orders.orders join inventory.contested on owner = orders.id
    where state <> 'pending' or payment_status <> 'unpaid'`,

  'stock is reserved without an order': `select owner, item_id from inventory.reservations where state = 'held'`,

  'what is reserved for a placed order that is paid is not confirmed': `
    select orders.id from orders.orders join inventory.reservations on owner = orders.id
    where orders.state in ('placed', 'completed') and payment_status <> 'unpaid' and reservations.state = 'claimed'`,

  'something posted for the stock was never done': `
    select id, kind, owner from inventory.requests where done_at is null`,

  'a canceled order holds money, or may still be paid': `
    select orders.id, authorized, committed from orders.orders join payments.accounts on order_id = orders.id
    where state = 'canceled' and (authorized > 0
      or exists (select from payments.payments where payments.order_id = orders.id and is_open))`,

  'a cancellation was never finished': `
    select id, cancel_requested_at from orders.orders where cancel_requested_at is not null and state <> 'canceled'`,

  'more was credited than an order cost': `
    select orders.id, total, sum(amount) as credited from orders.orders join orders.adjustments on order_id = orders.id
    group by orders.id having sum(amount) > total`,

  'more was captured than is due, and the account does not say so': `
    select accounts.order_id, due, captured, refunded from payments.accounts
    join orders.orders on orders.id = accounts.order_id
    where captured - refunded > due and not (accounts.is_overpaid and orders.is_overpaid)`,

  'more went back than was taken': `
    select id, captured, refunded, refunding from payments.payments where refunded + refunding > captured`,

  'a payment is not what its facts say': `
    select payments.id, payments.captured, payments.refunded from payments.payments
    left join payments.facts on payment_id = payments.id group by payments.id
    having payments.captured <> coalesce(sum(facts.amount) filter (where kind = 'capture' and facts.status = 'succeeded'), 0)
      or payments.refunded <> coalesce(sum(facts.amount) filter (where kind = 'refund' and facts.status = 'succeeded'), 0)`,

  'an account is not the sum of its payments': `
    select accounts.order_id from payments.accounts left join payments.payments using (order_id)
    group by accounts.order_id
    having accounts.captured <> coalesce(sum(payments.captured), 0)
      or accounts.refunded <> coalesce(sum(payments.refunded), 0)
      or accounts.refunding <> coalesce(sum(payments.refunding), 0)
      or accounts.authorized <> coalesce(sum(payments.authorized), 0)`,

  'an order does not say what its payments are': `
    select orders.id, payment_status, accounts.status from orders.orders
    join payments.accounts on order_id = orders.id
    where state <> 'canceled' and total > 0 and (payment_status is distinct from accounts.status
      or orders.is_overpaid <> accounts.is_overpaid or orders.is_disputed <> accounts.is_disputed)`,

  'money is there, and the order waits for it': `
    select orders.id from orders.orders join payments.accounts on order_id = orders.id
    where state = 'pending' and accounts.status in ('authorized', 'paid')`,

  'an order was placed without money': `
    select id from orders.orders where state = 'placed' and terms = 'prepaid' and total > 0 and not exists (
      select from payments.facts join payments.payments on payments.id = payment_id
      where payments.order_id = orders.id and kind in ('capture', 'authorization'))`,

  'an order was placed twice': `
    select order_id from orders.history where action = 'place' group by order_id having count(*) > 1`,

  'what was sent is not what the lines of the order say': `
    select order_id, line, fulfilled, sent from orders.lines left join (
      select order_id, (unit ->> 'line')::int as line, sum((unit ->> 'quantity')::int) as sent
      from orders.shipments, jsonb_array_elements(shipments.lines) as unit where voided_at is null group by 1, 2
    ) as parcels using (order_id, line)
    where fulfilled <> coalesce(sent, 0)`,

  'something of a canceled order was sent': `
    select order_id, line, fulfilled from orders.lines join orders.orders on orders.id = order_id
    where state = 'canceled' and fulfilled > 0`,

  'a customer has two first orders': `
    select customer from pricing.redemptions join pricing.promotions on promotions.id = promotion_id
    where first_order_only group by customer having count(distinct owner) > 1`,

  'a promotion or a code was used more often than it is counted': `
    select budgets.id, taken, count(redemptions.owner) as used from pricing.budgets
    left join pricing.redemptions on budgets.id in (promotion_id, code_id)
    where uses_max is not null group by budgets.id having taken <> count(redemptions.owner)`,

  'a customer used a promotion more often than it is counted': `
    select promotion_id, customer, taken, count(owner) as used from pricing.customer_uses
    left join pricing.redemptions using (promotion_id, customer)
    group by promotion_id, customer, taken having taken <> count(owner)`,

  'a use of a promotion is no live order’s': `
    select owner, promotion_id from pricing.redemptions left join orders.orders on orders.id = owner
    where orders.id is null or state = 'canceled'`,

  'an order was made cheaper by a promotion that was not used': `
    select order_id, promotion_id from orders.components join orders.orders on orders.id = order_id
    where promotion_id is not null and state <> 'canceled' and not exists (
      select from pricing.redemptions where owner = order_id and redemptions.promotion_id = components.promotion_id)`,

  'what a provider was asked was never answered': `
    select id, kind, state, error from payments.operations where settled_at is null`,

  'a callback was never applied': `select event_id, type, reason from payments.events where state = 'received'`,

  'something that followed was never done': `
    select handler, subject, error from cartwright.jobs where id <> 0`,

  'unpaid units are not those that unpaid orders reserve': `
    with expected as (
      select orders.id as order_id, variant_id, sum(ordered - lines.canceled - fulfilled) as units
      from orders.orders join orders.lines on lines.order_id = orders.id join inventory.items on items.id = variant_id
      where tracked and is_deferred and state in ('pending', 'placed')
        and payment_status in ('unpaid', 'partially_paid')
      group by orders.id, variant_id having sum(ordered - lines.canceled - fulfilled) > 0
    )
    select order_id, variant_id, expected.units as expected, counted.units as counted
    from expected full join orders.unpaid_units as counted using (order_id, variant_id)
    where expected.units is distinct from counted.units`,

  'the books of the stock are wrong': STOCK_FAULTS
}
const ROWS_SHOWN_MAX = 3

/** Each rule that is broken, with a few of the places. */
export async function brokenRules({ sql }: Pick<Site, 'sql'>): Promise<string[]> {
  const broken: string[] = []
  for (const [name, text] of Object.entries(RULES)) {
    const rows = await sql(text)
    if (rows.length === 0) continue
    const shown = rows.slice(0, ROWS_SHOWN_MAX).map(row => JSON.stringify(row))
    broken.push(`${name} (${rows.length}): ${shown.join(', ')}`)
  }
  return broken
}
