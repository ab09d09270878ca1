import type { Metadata } from '../../../kernel/metadata.ts'
import { declareMetadataLimitConstraint } from '../../../platform/postgres/metadata.ts'
import {
  json,
  nullableJson,
  nullableOneOf,
  oneOf,
  recordsetColumnsSql,
  type StatementResultRow,
  type StatementValueTypes,
  statement
} from '../../../platform/postgres/statement.ts'
import type { AddressDraft } from '../checkouts/addresses.ts'
import type { AppliedTaxExemption } from '../checkouts/schema.ts'
import { type NewOrderLineRow, newOrderLineColumns } from '../lifecycle/line-columns.ts'
import type { FulfillmentStatus, OrderPaymentStatus } from '../lifecycle/status.ts'
import type { PaymentTerms } from '../lifecycle/terms.ts'
import {
  type DeliveryGroupRow,
  deliveryGroupColumns,
  type PriceComponentRow,
  type TaxEngineColumn
} from '../orders/repository.ts'

declareMetadataLimitConstraint('orders.lines')

const order = {
  id: 'uuid',
  number: 'text',
  state: oneOf<'pending' | 'placed'>(),
  terms: oneOf<PaymentTerms>(),
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
  tendered: 'int8',
  shipping_address: nullableJson<AddressDraft>(),
  billing_address: nullableJson<AddressDraft>(),
  note: 'text?',
  metadata: json<Metadata>(),
  tax_exemption: nullableJson<AppliedTaxExemption>(),
  tax_engine: nullableJson<TaxEngineColumn>(),
  payment_status: nullableOneOf<OrderPaymentStatus>(),
  fulfillment_status: oneOf<FulfillmentStatus>(),
  is_deferred: 'bool',
  is_buyer_verified: 'bool'
} as const
const namesOf = (columns: StatementValueTypes) => Object.keys(columns).join(', ')
const names = namesOf(order)

/** The order with its lines and its other rows, as one row of columns and arrays. */
const orderWithParts = {
  ...order,
  groups: json<readonly DeliveryGroupRow[]>(),
  lines: json<readonly NewOrderLineRow[]>(),
  components: json<readonly PriceComponentRow[]>(),
  actor: 'uuid?',
  payment_timeout_seconds: 'float8'
} as const
export type NewOrderRow = StatementResultRow<typeof orderWithParts>
/**
 * Inserts all rows of an order. Returns its creation and expiry. Takes an advisory lock per buyer for pending
 * orders, so that transactions of one buyer run one after another and `countPending` misses no order.
 */
export const insertOrder = statement({
  name: 'orders.insert_order',
  takes: orderWithParts,
  gives: { at: 'int8', created_at: 'timestamptz', expires_at: 'timestamptz?' },
  forEach: true,
  text: `
    with new as materialized (select * from $each),
    new_orders as (
      insert into orders.orders (${names}, placed_at, expires_at)
      select ${names}, case when state = 'placed' then now() end,
        case when state = 'pending' then now() + make_interval(secs => payment_timeout_seconds) end
      from new
      returning id, created_at, expires_at
    ), new_groups as (
      insert into orders.groups (order_id, ${namesOf(deliveryGroupColumns)})
      select id, rows.*
      from new, jsonb_to_recordset(groups) as rows (${recordsetColumnsSql(deliveryGroupColumns)})
    ), new_lines as (
      insert into orders.lines (order_id, ${namesOf(newOrderLineColumns)})
      select new.id, rows.*
      from new, jsonb_to_recordset(lines) as rows (${recordsetColumnsSql(newOrderLineColumns)})
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
 * Counts pending orders of a buyer and of a network, including the new order. Orders of a guest count per
 * network, because a stranger in another network can type the same email address. `state between` keeps
 * PostgreSQL from using the index of all pending orders. A plan that was made while the table was empty
 * scanned that whole index.
 */
export const countPendingOrdersOfBuyerAndNetwork = statement({
  name: 'orders.count_pending',
  takes: { buyer: 'text', customer_id: 'uuid?', network: 'text?' },
  gives: { at: 'int8', of_buyer: 'int8', of_network: 'int8' },
  forEach: true,
  text: `
    select at,
      (select count(*) from orders.orders o where state between 'pending' and 'pending'
        and right(o.buyer, 7) = right(each.buyer, 7) and o.buyer = each.buyer
        and (each.customer_id is not null or o.network is not distinct from each.network)) as of_buyer,
      (select count(*) from orders.orders o where state between 'pending' and 'pending'
        and right(o.network, 7) = right(each.network, 7) and o.network = each.network) as of_network
    from $each`
})
