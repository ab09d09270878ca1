import type { Metadata } from '../../../kernel/metadata.ts'
import { json, nullableJson, nullableOneOf, oneOf, statement } from '../../../platform/postgres/statement.ts'
import type { AddressDraft } from '../checkouts/addresses.ts'
import type { OrderLineQuantity } from '../lifecycle/counters.ts'
import type { OrderLineRow } from '../lifecycle/line-columns.ts'
import type { DeliveryGroupRow } from '../orders/repository.ts'

export const insertOrderShipment = statement({
  name: 'orders.insert_shipment',
  takes: {
    id: 'uuid',
    order_id: 'uuid',
    carrier: 'text?',
    tracking_number: 'text?',
    lines: json<readonly OrderLineQuantity[]>(),
    actor: 'uuid?'
  },
  text: `
    insert into orders.shipments (id, order_id, carrier, tracking_number, lines, actor)
    values ($id, $order_id, $carrier, $tracking_number, $lines, $actor)`
})
export const findOrderShipment = statement({
  name: 'orders.find_shipment',
  takes: { id: 'uuid', order_id: 'uuid' },
  gives: {
    carrier: 'text?',
    tracking_number: 'text?',
    lines: json<OrderLineQuantity[]>(),
    voided_at: 'timestamptz?'
  },
  text: `
    select carrier, tracking_number, lines, voided_at from orders.shipments where id = $id and order_id = $order_id`
})
export const markShipmentVoided = statement({
  name: 'orders.void_shipment',
  takes: { id: 'uuid', actor: 'uuid?', reason: 'text' },
  text: `
    update orders.shipments set voided_at = now(), voided_by = $actor, void_reason = $reason where id = $id`
})
/** The delivery groups of an order, with the chosen shipping option. */
export const listDeliveryGroups = statement({
  name: 'orders.list_groups',
  takes: { order_id: 'uuid' },
  gives: {
    group_key: 'text',
    method: oneOf<DeliveryGroupRow['method']>(),
    option: nullableJson<NonNullable<DeliveryGroupRow['option']>>()
  },
  text: 'select group_key, method, option from orders.groups where order_id = $order_id order by group_key'
})
/** Replaces carrier and tracking number of a shipment. The previous ones stay in `former`. */
export const updateCarrierAndTracking = statement({
  name: 'orders.update_label',
  takes: { id: 'uuid', carrier: 'text?', tracking_number: 'text?', actor: 'uuid?' },
  text: `
    update orders.shipments set carrier = $carrier, tracking_number = $tracking_number,
      former = former || jsonb_build_object(
        'carrier', carrier, 'tracking_number', tracking_number, 'actor', $actor::uuid, 'until', now())
    where id = $id`
})
/**
 * Whether units were returned or refunded since a tracking event, and whether the shop completed the order
 * automatically.
 */
export const findOrderActionsSinceTrackingEvent = statement({
  name: 'orders.find_consequences',
  takes: { order_id: 'uuid', since: 'timestamptz' },
  gives: { depends_on: nullableOneOf<'return' | 'refund'>(), is_completed_by_system: 'bool' },
  text: `
    select
      (select action from orders.history
        where order_id = $order_id and action in ('return', 'refund') and at >= $since order by id limit 1) as depends_on,
      coalesce((select actor is null from orders.history
        where order_id = $order_id and action = 'complete' order by id desc limit 1), false) as is_completed_by_system`
})
type PackedLine = Readonly<Pick<OrderLineRow, 'line' | 'sku' | 'name' | 'variant_name' | 'weight_grams'>> & {
  readonly metadata: Metadata
}
/** The content of shipping labels and packing slips of these orders. */
export const listOrdersForPackingSlips = statement({
  name: 'orders.list_for_slips',
  takes: { ids: 'uuid[]' },
  gives: {
    id: 'uuid',
    number: 'text',
    address: nullableJson<AddressDraft>(),
    lines: json<readonly PackedLine[]>()
  },
  text: `
    select id, number, shipping_address as address,
      (select coalesce(jsonb_agg(jsonb_build_object(
        'line', line, 'sku', sku, 'name', name, 'variant_name', variant_name,
        'metadata', coalesce(metadata, '{}'), 'weight_grams', weight_grams) order by line), '[]')
       from orders.lines where order_id = o.id) as lines
    from orders.orders o where id = any ($ids)`
})
