import { countUpTo } from '../../../platform/postgres/counting.ts'
import { adminMetadataColumns } from '../../../platform/postgres/metadata.ts'
import {
  json,
  nullableJson,
  nullableOneOf,
  oneOf,
  type RowOf,
  type StatementResultRow,
  statement
} from '../../../platform/postgres/statement.ts'
import type { AddressDraft } from '../checkouts/addresses.ts'
import type { AppliedTaxExemption } from '../checkouts/schema.ts'
import type { OrderActorRole } from '../lifecycle/actions.ts'
import type { OrderLineQuantity } from '../lifecycle/counters.ts'
import type { OrderLineRow } from '../lifecycle/line-columns.ts'
import { lockedOrderUpdate } from '../lifecycle/repository.ts'
import type { FulfillmentStatus, OrderLifecycleState, OrderPaymentStatus } from '../lifecycle/status.ts'
import type { PaymentTerms } from '../lifecycle/terms.ts'

/** The columns of an order in a list. */
export const orderSummaryColumns = {
  id: 'uuid',
  number: 'text',
  state: oneOf<OrderLifecycleState>(),
  terms: oneOf<PaymentTerms>(),
  payment_status: nullableOneOf<OrderPaymentStatus>(),
  fulfillment_status: oneOf<FulfillmentStatus>(),
  customer_id: 'uuid?',
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
  is_overpaid: 'bool',
  is_disputed: 'bool',
  version: 'int4',
  placed_at: 'timestamptz?',
  created_at: 'timestamptz',
  updated_at: 'timestamptz'
} as const
export const orderSummaryColumnsSql = Object.keys(orderSummaryColumns).join(', ')

/** A shipping option as it was offered to the buyer. */
type OptionSnapshot = {
  id: string
  provider: string | null
  service: string
  estimated_days: { min: number; max: number } | null
}
export const deliveryGroupColumns = {
  group_key: 'text',
  method: oneOf<'shipping' | 'pickup' | 'digital'>(),
  option: nullableJson<OptionSnapshot>()
} as const
export type DeliveryGroupRow = StatementResultRow<typeof deliveryGroupColumns>
export type PriceComponentRow = {
  position: number
  kind: 'item' | 'discount' | 'shipping' | 'shipping_discount' | 'tax' | 'cash_rounding'
  line: number | null
  group_key: string | null
  promotion_id: string | null
  title: string | null
  code: string | null
  option_id: string | null
  amount: number
  base: number | null
  rate_ppm: number | null
  tax_category: string | null
  exempt: string | null
  included: boolean
}
/** The tax engine of the shop. `is_fallback`: it failed, so the tax rates of the shop apply. */
export type TaxEngineColumn = { name: string; is_fallback: boolean }
type HistoryRow = {
  action: string
  from_state: OrderLifecycleState | null
  to_state: OrderLifecycleState
  actor: string | null
  reason: string | null
  at: string
}
type AdjustmentRow = {
  id: string
  kind: 'cancel' | 'refund'
  amount: number
  back: number
  reason: string | null
  at: string
  parts: readonly {
    line: number | null
    group_key: string | null
    units: number
    amount: number
    tax: number
    rate_ppm: number | null
    tax_category: string | null
  }[]
}
export type OrderTenderRow = { id: string; type: string; label: string; amount: number; refunded: number }
type ShipmentRow = {
  id: string
  carrier: string | null
  tracking_number: string | null
  lines: readonly OrderLineQuantity[]
  at: string
  voided_at: string | null
  voided_by: string | null
  void_reason: string | null
  former: readonly FormerLabel[]
}
type FormerLabel = Label & { actor: string | null; until: string }
type Label = { carrier: string | null; tracking_number: string | null }

const whole = {
  ...orderSummaryColumns,
  token_version: 'int4',
  expires_at: 'timestamptz?',
  cancel_requested_at: 'timestamptz?',
  cancel_requested_by: nullableOneOf<OrderActorRole>(),
  held_at: 'timestamptz?',
  erased_at: 'timestamptz?',
  shipping_address: nullableJson<AddressDraft>(),
  billing_address: nullableJson<AddressDraft>(),
  note: 'text?',
  tax_exemption: nullableJson<AppliedTaxExemption>(),
  tax_engine: nullableJson<TaxEngineColumn>(),
  ...adminMetadataColumns,
  lines: json<OrderLineRow[]>(),
  groups: json<DeliveryGroupRow[]>(),
  components: json<PriceComponentRow[]>(),
  history: json<HistoryRow[]>(),
  tenders: json<OrderTenderRow[]>(),
  adjustments: json<AdjustmentRow[]>(),
  shipments: json<ShipmentRow[]>()
} as const

/** The tenders of an order `o`. An order without tenders does not read their table. */
export const orderTendersSql = `case when o.tendered = 0 then '[]' else (
      select jsonb_agg(jsonb_build_object('id', t.id, 'type', t.type, 'label', t.label, 'amount', t.amount,
        'refunded', t.refunded) order by t.position)
      from orders.tenders t where t.order_id = o.id) end`

const wholeOrder = `
  select ${orderSummaryColumnsSql}, token_version, expires_at, cancel_requested_at, cancel_requested_by, held_at, erased_at,
    shipping_address, billing_address, note, tax_exemption, tax_engine, metadata, private_metadata,
    (select coalesce(jsonb_agg(to_jsonb(l) order by line), '[]') from orders.lines l where order_id = o.id) as lines,
    (select coalesce(jsonb_agg(to_jsonb(g) order by group_key), '[]') from orders.groups g where order_id = o.id) as groups,
    (select coalesce(jsonb_agg(to_jsonb(c) order by position), '[]') from orders.components c where order_id = o.id)
      as components,
    (select coalesce(jsonb_agg(to_jsonb(h) order by h.id), '[]') from orders.history h
      where order_id = o.id and h.at >= o.created_at) as history,
    ${orderTendersSql} as tenders,
    (select coalesce(jsonb_agg(to_jsonb(a) || jsonb_build_object('parts', (
        select coalesce(jsonb_agg(to_jsonb(p) order by position), '[]') from orders.adjustment_parts p where adjustment_id = a.id
      )) order by at, a.id), '[]') from orders.adjustments a where order_id = o.id) as adjustments,
    (select coalesce(jsonb_agg(to_jsonb(s) order by at, s.id), '[]') from orders.shipments s where order_id = o.id) as shipments
  from orders.orders o`

export const orderAddressColumns = {
  shipping_address: nullableJson<AddressDraft>(),
  billing_address: nullableJson<AddressDraft>()
} as const

/** An order with its lines, groups, components, history, adjustments and shipments. */
export const findOrderOfBuyer = statement({
  name: 'orders.find_order',
  takes: { id: 'uuid', customer_id: 'uuid?' },
  gives: whole,
  text: `${wholeOrder} where id = $id and customer_id is not distinct from $customer_id`
})
/** Finds an order by id, without a check of its buyer. */
export const findOrderOfAnyBuyer = statement({
  name: 'orders.find_any_order',
  takes: { id: 'uuid' },
  gives: whole,
  text: `${wholeOrder} where id = $id`
})
export type OrderRow = RowOf<typeof findOrderOfBuyer>

export const listOrdersOfCustomer = statement({
  name: 'orders.list_orders',
  takes: { customer_id: 'uuid', after: 'uuid', limit: 'int8' },
  gives: { ...orderSummaryColumns, quantity: 'int8' },
  text: `
    select ${orderSummaryColumnsSql},
      (select coalesce(sum(ordered - canceled), 0)::int8 from orders.lines where order_id = o.id) as quantity
    from orders.orders o where customer_id = $customer_id and id < $after order by id desc limit $limit`
})
export type OrderSummaryRow = RowOf<typeof listOrdersOfCustomer>

export const countOrdersOfCustomer = statement({
  name: 'orders.count_orders',
  takes: { customer_id: 'uuid' },
  gives: { total: 'int4' },
  text: countUpTo('orders.orders where customer_id = $customer_id')
})
export const findOrderOfCheckout = statement({
  name: 'orders.find_order_of_checkout',
  takes: { checkout_id: 'uuid' },
  gives: { id: 'uuid' },
  text: `select id from orders.orders where checkout_id = $checkout_id and state <> 'canceled'`
})
/** Finds the order that was created from this version of a cart. */
export const findOrderOfCartVersion = statement({
  name: 'orders.find_order_of_cart',
  takes: { cart_id: 'uuid', cart_version: 'int4' },
  gives: { id: 'uuid' },
  text: `
    select id from orders.orders
    where cart_id = $cart_id and cart_version = $cart_version and state <> 'canceled'`
})
/** Reads the owner of an order without locking the order. */
export const findOrderMetadata = statement({
  name: 'orders.find_metadata',
  takes: { id: 'uuid' },
  gives: { id: 'uuid', version: 'int4', ...adminMetadataColumns },
  text: 'select id, version, metadata, private_metadata from orders.orders where id = $id'
})
export const findOrderOwner = statement({
  name: 'orders.find_owner',
  takes: { id: 'uuid' },
  gives: { id: 'uuid', customer_id: 'uuid?', token_version: 'int4' },
  text: 'select id, customer_id, token_version from orders.orders where id = $id'
})
/**
 * A claim keeps `buyer` and `mailbox`, so that limits still count the order for the guest's email address.
 */
export const assignOrderToCustomer = lockedOrderUpdate({
  name: 'orders.hand_over',
  takes: { customer_id: 'uuid', token_version: 'int4' },
  text: 'update orders.orders set customer_id = $customer_id, token_version = $token_version where id = $id'
})
export const nextOrderSequenceValues = statement({
  name: 'orders.next_numbers',
  takes: { count: 'int4' },
  gives: { value: 'int8' },
  text: `select nextval('orders.numbers') as value from generate_series(1, $count)`
})
/**
 * A random key from the first migration. It never changes, because another key could repeat order numbers.
 */
export const findOrderNumberPermutationKey = statement({
  name: 'orders.find_number_key',
  gives: { key: 'bytea' },
  text: 'select key from orders.number_key'
})
