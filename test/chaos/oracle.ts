import type { ShopUnderFaults } from '../faults/network/shop-under-faults.ts'
import { STOCK_FAULTS } from '../support/stock-ledger.ts'

/** Rules that the tables must satisfy. Each query returns the rows that break its rule, and is named by the violation. */
const TABLE_RULES: Readonly<Record<string, string>> = {
  'the total of an order is not the sum of its components, apart from those included in other prices': `
    select orders.id, total, sum(amount) filter (where not included) as components
    from orders.orders left join orders.components on order_id = orders.id
    group by orders.id having total is distinct from sum(amount) filter (where not included)`,

  'what tenders cover of an order is not the sum of its tenders': `
    select orders.id, tendered from orders.orders left join orders.tenders on order_id = orders.id
    group by orders.id having tendered <> coalesce(sum(amount), 0)`,

  'a canceled order has a tender that was not given back': `
    select order_id, tenders.id, amount, refunded from orders.tenders join orders.orders on orders.id = order_id
    where state = 'canceled' and refunded <> amount`,

  'a sum of an order is not the sum of its components of that kind': `
    select orders.id from orders.orders join orders.components on order_id = orders.id group by orders.id
    having subtotal <> coalesce(sum(amount) filter (where kind = 'item'), 0)
      or discount_total <> -coalesce(sum(amount) filter (where kind = 'discount'), 0)
      or shipping_total <> coalesce(sum(amount) filter (where kind in ('shipping', 'shipping_discount')), 0)
      or tax_total <> coalesce(sum(amount) filter (where kind = 'tax'), 0)`,

  'the item components of a line do not add up to its price': `
    select order_id, line from orders.lines join orders.components using (order_id, line)
    where kind = 'item' group by order_id, line, ordered, discounted_price
    having sum(amount) <> ordered * discounted_price`,

  'an order has no lines, or was not created exactly once': `
    select id from orders.orders where not exists (select from orders.lines where order_id = orders.id)
      or (select count(*) from orders.history where order_id = orders.id and action = 'create') <> 1`,

  'one version of a cart has two orders that are not canceled': `
    select cart_id, cart_version from orders.orders where cart_id is not null and state <> 'canceled'
    group by cart_id, cart_version having count(*) > 1`,

  'a checkout has two orders that are not canceled': `
    select checkout_id from orders.orders where checkout_id is not null and state <> 'canceled'
    group by checkout_id having count(*) > 1`,

  'the units reserved for an order are not its units still to be delivered': `
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

  'an order that is paid, placed or canceled has contested units': `
    select orders.id from orders.orders join inventory.contested on owner = orders.id
    where state <> 'pending' or payment_status <> 'unpaid'`,

  'a reservation without an order was never released': `select owner, item_id from inventory.reservations where state = 'held'`,

  'a reservation of a paid and placed order is not confirmed': `
    select orders.id from orders.orders join inventory.reservations on owner = orders.id
    where orders.state in ('placed', 'completed') and payment_status <> 'unpaid' and reservations.state = 'claimed'`,

  'a stock request was never executed': `
    select id, kind, owner from inventory.requests where done_at is null`,

  'a canceled order has an authorization, or a payment that is still open': `
    select orders.id, authorized, committed from orders.orders join payments.accounts on order_id = orders.id
    where state = 'canceled' and (authorized > 0
      or exists (select from payments.payments where payments.order_id = orders.id and is_open))`,

  'a cancellation was requested and never completed': `
    select id, cancel_requested_at from orders.orders where cancel_requested_at is not null and state <> 'canceled'`,

  'the credits of an order exceed its total': `
    select orders.id, total, sum(amount) as credited from orders.orders join orders.adjustments on order_id = orders.id
    group by orders.id having sum(amount) > total`,

  'more was captured than is due, and the account is not marked as overpaid': `
    select accounts.order_id, due, captured, refunded from payments.accounts
    join orders.orders on orders.id = accounts.order_id
    where captured - refunded > due and not (accounts.is_overpaid and orders.is_overpaid)`,

  'the refunds of a payment exceed its captured amount': `
    select id, captured, refunded, refunding from payments.payments where refunded + refunding > captured`,

  'the amounts of a payment are not the sums of its facts': `
    select payments.id, payments.captured, payments.refunded from payments.payments
    left join payments.facts on payment_id = payments.id group by payments.id
    having payments.captured <> coalesce(sum(facts.amount) filter (where kind = 'capture' and facts.status = 'succeeded'), 0)
      or payments.refunded <> coalesce(sum(facts.amount) filter (where kind = 'refund' and facts.status = 'succeeded'), 0)`,

  'the amounts of an account are not the sums of its payments': `
    select accounts.order_id from payments.accounts left join payments.payments using (order_id)
    group by accounts.order_id
    having accounts.captured <> coalesce(sum(payments.captured), 0)
      or accounts.refunded <> coalesce(sum(payments.refunded), 0)
      or accounts.refunding <> coalesce(sum(payments.refunding), 0)
      or accounts.authorized <> coalesce(sum(payments.authorized), 0)`,

  'the payment status of an order is not that of its account': `
    select orders.id, payment_status, accounts.status from orders.orders
    join payments.accounts on order_id = orders.id
    where state <> 'canceled' and total > tendered and (
      (payment_status is distinct from accounts.status
        -- A refund counts payments and tenders together.
        and not (tendered > 0 and payment_status in ('partially_refunded', 'refunded')))
      or orders.is_overpaid <> accounts.is_overpaid or orders.is_disputed <> accounts.is_disputed)`,

  'a paid or authorized order is still pending': `
    select orders.id from orders.orders join payments.accounts on order_id = orders.id
    where state = 'pending' and accounts.status in ('authorized', 'paid')`,

  'a prepaid order was placed without an authorization or a capture': `
    select id from orders.orders where state = 'placed' and terms = 'prepaid' and total > tendered and not exists (
      select from payments.facts join payments.payments on payments.id = payment_id
      where payments.order_id = orders.id and kind in ('capture', 'authorization'))`,

  'an order was placed twice': `
    select order_id from orders.history where action = 'place' group by order_id having count(*) > 1`,

  'the fulfilled units of a line are not the units in its shipments': `
    select order_id, line, fulfilled, sent from orders.lines left join (
      select order_id, (unit ->> 'line')::int as line, sum((unit ->> 'quantity')::int) as sent
      from orders.shipments, jsonb_array_elements(shipments.lines) as unit where voided_at is null group by 1, 2
    ) as parcels using (order_id, line)
    where fulfilled <> coalesce(sent, 0)`,

  'units of a canceled order were shipped': `
    select order_id, line, fulfilled from orders.lines join orders.orders on orders.id = order_id
    where state = 'canceled' and fulfilled > 0`,

  'a customer used promotions for first orders in two orders': `
    select customer from pricing.redemptions join pricing.promotions on promotions.id = promotion_id
    where first_order_only group by customer having count(distinct owner) > 1`,

  'the counter of a promotion or code is not its number of redemptions': `
    select usage_limits.id, taken, count(redemptions.owner) as used from pricing.usage_limits
    left join pricing.redemptions on usage_limits.id in (promotion_id, code_id)
    where uses_max is not null group by usage_limits.id having taken <> count(redemptions.owner)`,

  'the counter of a customer and a promotion is not their number of redemptions': `
    select promotion_id, customer, taken, count(owner) as used from pricing.customer_uses
    left join pricing.redemptions using (promotion_id, customer)
    group by promotion_id, customer, taken having taken <> count(owner)`,

  'a redemption belongs to an order that is canceled or does not exist': `
    select owner, promotion_id from pricing.redemptions left join orders.orders on orders.id = owner
    where orders.id is null or state = 'canceled'`,

  'an order has a discount of a promotion without a redemption': `
    select order_id, promotion_id from orders.components join orders.orders on orders.id = order_id
    where promotion_id is not null and state <> 'canceled' and not exists (
      select from pricing.redemptions where owner = order_id and redemptions.promotion_id = components.promotion_id)`,

  'an operation at a provider has no outcome': `
    select id, kind, state, error from payments.operations where settled_at is null`,

  'a stored callback was never applied': `select event_id, type, reason from payments.events where state = 'received'`,

  'an event or job was never handled': `
    select handler, subject, error from cartwright.jobs where id <> 0`,

  'the counted unpaid units are not those that unpaid orders reserve': `
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

  'the total of unverified units differs from the counted units': `
    select units from orders.unverified_units
    where units <> (select coalesce(sum(units), 0) from orders.unpaid_units where not is_verified)`,

  'the stock ledger has discrepancies': STOCK_FAULTS
}
const ROWS_SHOWN_MAX = 3

/** Returns the broken rules, each with its first rows. */
export async function brokenRules({ sql }: Pick<ShopUnderFaults, 'sql'>): Promise<string[]> {
  const broken: string[] = []
  for (const [name, text] of Object.entries(TABLE_RULES)) {
    const rows = await sql(text)
    if (rows.length === 0) continue
    const shown = rows.slice(0, ROWS_SHOWN_MAX).map(row => JSON.stringify(row))
    broken.push(`${name} (${rows.length}): ${shown.join(', ')}`)
  }
  return broken
}
