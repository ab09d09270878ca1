import { json, nullableJson, nullableOneOf, oneOf, statement } from '../../../platform/postgres/statement.ts'
import type { Units } from '../life/counters.ts'
import type { GroupRow } from '../orders/repository.ts'

export const insertShipment = statement({
  name: 'orders.insert_shipment',
  takes: {
    id: 'uuid',
    order_id: 'uuid',
    carrier: 'text?',
    tracking_number: 'text?',
    lines: json<readonly Units[]>(),
    actor: 'uuid?'
  },
  text: `
    insert into orders.shipments (id, order_id, carrier, tracking_number, lines, actor)
    values ($id, $order_id, $carrier, $tracking_number, $lines, $actor)`
})
export const findShipment = statement({
  name: 'orders.find_shipment',
  takes: { id: 'uuid', order_id: 'uuid' },
  gives: { carrier: 'text?', tracking_number: 'text?', lines: json<Units[]>(), voided_at: 'timestamptz?' },
  text: `
    select carrier, tracking_number, lines, voided_at from orders.shipments where id = $id and order_id = $order_id`
})
export const voidShipment = statement({
  name: 'orders.void_shipment',
  takes: { id: 'uuid', actor: 'uuid?', reason: 'text' },
  text: `
    update orders.shipments set voided_at = now(), voided_by = $actor, void_reason = $reason where id = $id`
})
/** What comes together, and how that was chosen to come. */
export const listGroups = statement({
  name: 'orders.list_groups',
  takes: { order_id: 'uuid' },
  gives: {
    group_key: 'text',
    method: oneOf<GroupRow['method']>(),
    option: nullableJson<NonNullable<GroupRow['option']>>()
  },
  text: 'select group_key, method, option from orders.groups where order_id = $order_id order by group_key'
})
/** What stood on it before is remembered. */
export const updateLabel = statement({
  name: 'orders.update_label',
  takes: { id: 'uuid', carrier: 'text?', tracking_number: 'text?', actor: 'uuid?' },
  text: `
    update orders.shipments set carrier = $carrier, tracking_number = $tracking_number,
      former = former || jsonb_build_object(
        'carrier', carrier, 'tracking_number', tracking_number, 'actor', $actor::uuid, 'until', now())
    where id = $id`
})
/** What was done to an order since something was told of a parcel; and whether the shop itself has completed it. */
export const findConsequences = statement({
  name: 'orders.find_consequences',
  takes: { order_id: 'uuid', since: 'timestamptz' },
  gives: { built_on: nullableOneOf<'return' | 'refund'>(), completed_alone: 'bool' },
  text: `
    select
      (select action from orders.history
        where order_id = $order_id and action in ('return', 'refund') and at >= $since order by id limit 1) as built_on,
      coalesce((select actor is null from orders.history
        where order_id = $order_id and action = 'complete' order by id desc limit 1), false) as completed_alone`
})
