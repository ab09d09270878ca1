import type { Metadata } from '../../../kernel/metadata.ts'
import { json, oneOf, statement } from '../../../platform/postgres/statement.ts'
import { checkoutInputSql } from '../checkouts/repository.ts'
import type { OrderLineRow } from '../lifecycle/line-columns.ts'
import type { OrderLifecycleState } from '../lifecycle/status.ts'
import { type OrderTenderRow, orderTendersSql } from '../orders/repository.ts'

export const listOrderIdsOfCustomer = statement({
  name: 'orders.list_of_customer',
  takes: { customer_id: 'uuid' },
  gives: { id: 'uuid' },
  text: 'select id from orders.orders where customer_id = $customer_id order by id'
})
/** Locks orders of a customer, or of guests (null). The caller has locked their payment accounts before. */
export const lockOrdersToErase = statement({
  name: 'orders.lock_to_erase',
  takes: { customer_id: 'uuid?', ids: 'uuid[]' },
  gives: { id: 'uuid', number: 'text', state: oneOf<OrderLifecycleState>() },
  text: `
    select id, number, state from orders.orders
    where id = any ($ids) and customer_id is not distinct from $customer_id and erased_at is null
    order by id for update`
})
/**
 * Deletes the checkouts of the customer and the checkouts that became these orders, which a guest may have
 * created.
 */
export const deleteCheckoutsOfCustomerAndOrders = statement({
  name: 'orders.delete_checkouts_of_customer',
  takes: { customer_id: 'uuid?', ids: 'uuid[]' },
  text: `
    delete from orders.checkouts
    where customer_id = $customer_id or id in (select checkout_id from orders.orders where id = any ($ids))`
})
const regionOf = (address: string) =>
  `case when ${address} is not null then jsonb_strip_nulls(
        jsonb_build_object('country', ${address}->'country', 'region', ${address}->'region')) end`
/** Keeps what taxes depend on: amounts, country and region, and the reason of a tax exemption. */
export const eraseOrderPersonalData = statement({
  name: 'orders.erase_orders',
  takes: { ids: 'uuid[]' },
  text: `
    with lines as (
      update orders.lines set metadata = null where order_id = any ($ids) and metadata is not null
    ), tenders as (
      update orders.tenders set label = '' where order_id = any ($ids)
    )
    update orders.orders set
      customer_id = null, token_version = token_version + 1, buyer = id::text, mailbox = null, cart_id = null, cart_version = null,
      email = null, note = null, metadata = '{}', private_metadata = '{}',
      shipping_address = ${regionOf('shipping_address')}, billing_address = ${regionOf('billing_address')},
      tax_exemption = tax_exemption || '{ "company": "", "vat_id": null }',
      erased_at = now(), version = version + 1, updated_at = now(), progressed_at = now()
    where id = any ($ids)`
})
/** Removes reasons that users wrote. Reasons of the shop itself contain no personal data. */
export const eraseOrderHistoryReasons = statement({
  name: 'orders.erase_history',
  takes: { customer_id: 'uuid?', ids: 'uuid[]' },
  text: `
    update orders.history set reason = case when actor is null then reason end, actor = nullif(actor, $customer_id)
    where order_id = any ($ids)`
})
export const eraseAdjustmentReasons = statement({
  name: 'orders.erase_adjustments',
  takes: { customer_id: 'uuid?', ids: 'uuid[]' },
  text: `
    update orders.adjustments set reason = case when actor is null then reason end, actor = nullif(actor, $customer_id)
    where order_id = any ($ids)`
})
export const eraseShipmentTracking = statement({
  name: 'orders.erase_shipments',
  takes: { ids: 'uuid[]' },
  text: `
    update orders.shipments set tracking_number = null, former = '[]', void_reason = null where order_id = any ($ids)`
})
export const insertOrderErasureHistory = statement({
  name: 'orders.note_erased',
  takes: { ids: 'uuid[]' },
  text: `
    insert into orders.history (order_id, action, from_state, to_state)
    select id, 'erase', state, state from orders.orders where id = any ($ids) order by id`
})
type Line = Pick<OrderLineRow, 'sku' | 'name' | 'variant_name' | 'ordered' | 'discounted_price'> & {
  metadata: Metadata
}
const exported = {
  number: 'text',
  state: oneOf<OrderLifecycleState>(),
  email: 'text?',
  market: 'text',
  currency: 'text',
  total: 'int8',
  shipping_address: 'jsonb?',
  billing_address: 'jsonb?',
  note: 'text?',
  tax_exemption: 'jsonb?',
  metadata: json<Metadata>(),
  items: json<Line[]>(),
  tenders: json<OrderTenderRow[]>(),
  placed_at: 'timestamptz?',
  created_at: 'timestamptz'
} as const
const exportedOrders = `
    select number, state, email, market, currency, total, shipping_address, billing_address, note, tax_exemption, metadata,
      (select jsonb_agg(jsonb_build_object('sku', sku, 'name', name, 'variant_name', variant_name, 'ordered', ordered,
         'discounted_price', discounted_price, 'metadata', coalesce(metadata, '{}')) order by line) from orders.lines where order_id = o.id) as items,
      ${orderTendersSql} as tenders,
      placed_at, created_at
    from orders.orders o`
export const exportOrdersOfCustomer = statement({
  name: 'orders.export_orders_of_customer',
  takes: { customer_id: 'uuid' },
  gives: exported,
  text: `${exportedOrders} where customer_id = $customer_id order by id`
})
export const exportGuestOrdersByIds = statement({
  name: 'orders.export_guest_orders',
  takes: { ids: 'uuid[]' },
  gives: exported,
  text: `${exportedOrders} where id = any ($ids) order by id`
})
export const exportCheckoutsOfCustomer = statement({
  name: 'orders.export_checkouts_of_customer',
  takes: { customer_id: 'uuid' },
  gives: { input: 'jsonb', created_at: 'timestamptz', updated_at: 'timestamptz' },
  text: `
    select ${checkoutInputSql} as input, created_at, updated_at from orders.checkouts where customer_id = $customer_id order by id`
})
