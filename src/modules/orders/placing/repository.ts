import {
  json,
  nullableJson,
  nullableOneOf,
  oneOf,
  type Row,
  statement
} from '../../../platform/postgres/statement.ts'
import type { AddressDraft } from '../checkouts/addresses.ts'
import type { TaxExemption } from '../checkouts/schema.ts'
import type { FulfillmentStatus, PaymentStatus } from '../life/status.ts'
import type { ComponentRow, GroupRow, LineRow } from '../orders/repository.ts'
import type { Terms } from './terms.ts'

const order = {
  id: 'uuid',
  number: 'text',
  state: oneOf<'pending' | 'placed'>(),
  terms: oneOf<Terms>(),
  checkout_id: 'uuid?',
  cart_id: 'uuid?',
  cart_version: 'int4?',
  customer_id: 'uuid?',
  buyer: 'text',
  mailbox: 'text?',
  network: 'text?',
  email: 'text?',
  market: 'text',
  currency: 'text',
  subtotal: 'int8',
  discount_total: 'int8',
  shipping_total: 'int8',
  tax_total: 'int8',
  tax_added: 'int8',
  cash_rounding: 'int8',
  total: 'int8',
  quote_hash: 'text',
  shipping_address: nullableJson<AddressDraft>(),
  billing_address: nullableJson<AddressDraft>(),
  note: 'text?',
  tax_exemption: nullableJson<TaxExemption>(),
  payment_status: nullableOneOf<PaymentStatus>(),
  fulfillment_status: oneOf<FulfillmentStatus>()
} as const
export type NewOrder = Row<typeof order>
const names = Object.keys(order).join(', ')

export type NewLine = Omit<LineRow, 'canceled' | 'fulfilled' | 'returned' | 'refunded'>
/**
 * All rows of an order, when that was, and until when it waits for its money. Whoever places orders of one buyer that wait does so one
 * after the other from here on, so that none is left out of their count.
 */
export const insertOrder = statement({
  name: 'orders.insert_order',
  takes: {
    ...order,
    groups: json<readonly GroupRow[]>(),
    lines: json<readonly NewLine[]>(),
    components: json<readonly ComponentRow[]>(),
    actor: 'uuid?',
    wait_seconds: 'float8'
  },
  gives: { at: 'int8', created_at: 'timestamptz', expires_at: 'timestamptz?' },
  forEach: true,
  text: `
    with new as materialized (select * from $each),
    new_orders as (
      insert into orders.orders (${names}, placed_at, expires_at)
      select ${names}, case when state = 'placed' then now() end,
        case when state = 'pending' then now() + make_interval(secs => wait_seconds) end
      from new
      returning id, created_at, expires_at
    ), new_groups as (
      insert into orders.groups (order_id, group_key, method, option)
      select id, rows.group_key, rows.method, rows.option
      from new, jsonb_to_recordset(groups) as rows (group_key text, method text, option jsonb)
    ), new_lines as (
      insert into orders.lines (order_id, line, group_key, variant_id, product_id, sku, name, variant_name, slug, image_url,
        attributes, requires_shipping, weight_grams, unit_price, discounted_price, ordered)
      select id, rows.*
      from new, jsonb_to_recordset(lines) as rows (line int, group_key text, variant_id uuid, product_id uuid, sku text, name text,
        variant_name text, slug text, image_url text, attributes jsonb, requires_shipping boolean, weight_grams int,
        unit_price bigint, discounted_price bigint, ordered int)
    ), new_breakdowns as (
      insert into orders.breakdowns (order_id, components) select id, jsonb_strip_nulls(components) from new
    ), new_history as (
      insert into orders.history (order_id, action, to_state, actor) select id, 'create', state, actor from new
    ), turns as materialized (
      select pg_advisory_xact_lock(lock) from (
        select distinct hashtextextended('orders ' || buyer, 0) as lock from new where state = 'pending' order by lock
      ) as locks
    )
    select at, new_orders.created_at, new_orders.expires_at
    from new join new_orders using (id), (select count(*) from turns) as taken`
})
/**
 * Whether an account has an order that is not canceled, or a mailbox has one that is paid. An unpaid order counts for a guest of the
 * same mailbox and network alone.
 */
export const hasOrdered = statement({
  name: 'orders.has_ordered',
  takes: { customer: 'text', customer_id: 'uuid?', mailbox: 'text?', but: 'uuid?' },
  gives: { has_ordered: 'bool' },
  text: `
    select exists (
      select from orders.orders
      where mailbox = $mailbox and state <> 'canceled' and id is distinct from $but
        and (state <> 'pending' and payment_status is distinct from 'unpaid'
          and payment_status is distinct from 'partially_paid'
          or concat_ws(' ', mailbox, network) = $customer)
    ) or exists (
      select from orders.orders where customer_id = $customer_id and state <> 'canceled' and id is distinct from $but
    ) as has_ordered`
})
/**
 * How many wait for their money, once the new one is among them. Those of the buyer name the state so that no index of all that wait
 * fits: planned while there was nothing, PostgreSQL read all of it. Those of a guest are counted in one network, because a stranger
 * in another one can type the same e-mail address.
 */
export const countPending = statement({
  name: 'orders.count_pending',
  takes: { buyer: 'text', customer_id: 'uuid?', network: 'text?' },
  gives: { at: 'int8', of_buyer: 'int8', of_network: 'int8' },
  forEach: true,
  text: `
    select at,
      (select count(*) from orders.orders o where state between 'pending' and 'pending' and o.buyer = each.buyer
        and (each.customer_id is not null or o.network is not distinct from each.network)) as of_buyer,
      (select count(*) from orders.orders o where state = 'pending' and o.network = each.network) as of_network
    from $each`
})
