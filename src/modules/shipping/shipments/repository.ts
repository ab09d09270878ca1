import { adminMetadataColumns, metadataUpdateStatement } from '../../../platform/postgres/metadata.ts'
import { json, oneOf, type RowOf, statement } from '../../../platform/postgres/statement.ts'
import type { ShippingMethodKind } from '../rules/options.ts'
import type { ShipmentStatus, TrackingStatus } from '../tracking/status.ts'

/** A quantity of an order line. */
export type ShipmentLine = { readonly line: number; readonly quantity: number }

type ShipmentRow = {
  readonly id: string
  readonly group_key: string
  readonly method: ShippingMethodKind
  readonly option_id: string
  readonly provider: string | null
  readonly service: string
  readonly days_min: number | null
  readonly days_max: number | null
  readonly lines: readonly ShipmentLine[]
}
/** Inserts unshipped shipments of an order that no other transaction can see. Existing ones stay as they are. */
export const insertShipments = statement({
  name: 'shipping.insert_shipments',
  takes: { order_id: 'uuid', customer_id: 'uuid?', rows: json<readonly ShipmentRow[]>() },
  gives: { at: 'int8' },
  forEach: true,
  text: `
    with orders as materialized (select * from $each),
    made as (
      insert into shipping.shipments
        (id, order_id, customer_id, group_key, method, option_id, provider, service, days_min, days_max, lines)
      select id, order_id, customer_id, group_key, method, option_id, provider, service, days_min, days_max, lines
      from orders, jsonb_to_recordset(rows) as new (
        id uuid, group_key text, method text, option_id text, provider text, service text, days_min int, days_max int,
        lines jsonb
      )
      -- A join would be planned on an empty table as a scan of all shipments.
      where (select true from shipping.shipments where shipments.id = new.id) is null
      returning order_id
    )
    select at from orders join made using (order_id)`
})
export const assignShipmentsOfOrderToCustomer = statement({
  name: 'shipping.assign_shipments_to_customer',
  takes: { order_id: 'uuid', customer_id: 'uuid' },
  text: 'update shipping.shipments set customer_id = $customer_id where order_id = $order_id'
})
/** Removes access to the shipments, their tracking numbers and metadata. */
export const eraseShipments = statement({
  name: 'shipping.erase_shipments',
  takes: { order_ids: 'uuid[]' },
  text: `
    update shipping.shipments set customer_id = null, token_version = null, tracking_number = null, tracking_key = null,
      void_reason = null, metadata = '{}', private_metadata = '{}', erased_at = now()
    where order_id = any ($order_ids)`
})
/** Erases the texts of tracking events and values derived from them. Status and time stay. */
export const eraseTrackingEventTexts = statement({
  name: 'shipping.erase_events',
  takes: { order_ids: 'uuid[]' },
  text: `
    update shipping.events set description = null, location = null, event_id = null, digest = events.id::text,
      void_reason = null
    from shipping.shipments s where s.id = events.shipment_id and s.order_id = any ($order_ids)`
})
/** Inserts a shipped parcel with the shipping option of its group. */
export const insertShippedParcel = statement({
  name: 'shipping.insert_parcel',
  takes: {
    id: 'uuid',
    order_id: 'uuid',
    customer_id: 'uuid?',
    token_version: 'int4',
    groups: 'text[]',
    carrier: 'text?',
    carrier_code: 'text?',
    tracking_number: 'text?',
    tracking_key: 'text?',
    lines: json<readonly ShipmentLine[]>()
  },
  text: `
    insert into shipping.shipments
      (id, order_id, customer_id, token_version, group_key, method, option_id, provider, service, days_min, days_max,
       status, carrier, carrier_code, tracking_number, tracking_key, lines, sent_at)
    select $id, $order_id, $customer_id, $token_version, coalesce(waiting.group_key, ($groups::text[])[1]),
      coalesce(waiting.method, 'shipping'), coalesce(waiting.option_id, ''), waiting.provider, waiting.service,
      waiting.days_min, waiting.days_max,
      'in_transit', $carrier, $carrier_code, $tracking_number, $tracking_key, $lines, now()
    from (select) as one left join lateral (
      select * from shipping.shipments
      where order_id = $order_id and sent_at is null and group_key = any ($groups)
      order by method desc, group_key limit 1
    ) as waiting on true`
})
/** Replaces the unshipped lines of each group, and deletes groups that are not named. */
export const replaceLinesOfUnshippedShipments = statement({
  name: 'shipping.update_unshipped',
  takes: { order_id: 'uuid', groups: json<readonly { key: string; lines: readonly ShipmentLine[] }[]>() },
  text: `
    with rest as (select key, lines from jsonb_to_recordset($groups) as rest (key text, lines jsonb)),
    gone as (
      delete from shipping.shipments
      where order_id = $order_id and sent_at is null and group_key not in (select key from rest)
    )
    update shipping.shipments set lines = rest.lines, version = version + 1, updated_at = now()
    from rest where order_id = $order_id and sent_at is null and group_key = rest.key`
})

/** A tracking event in the JSON of a row. */
type EventJson = {
  readonly id: string
  readonly event_id: string | null
  readonly status: TrackingStatus
  readonly occurred_at: string
  readonly description: string | null
  readonly location: string | null
  readonly estimated_delivery: string | null
  readonly actor: string | null
  readonly told_at: string
  readonly voided_at: string | null
  readonly voided_by: string | null
  readonly void_reason: string | null
}
const shipment = {
  id: 'uuid',
  order_id: 'uuid',
  method: oneOf<Exclude<ShippingMethodKind, 'digital'>>(),
  provider: 'text?',
  service: 'text?',
  days_min: 'int4?',
  days_max: 'int4?',
  status: oneOf<ShipmentStatus>(),
  carrier: 'text?',
  carrier_code: 'text?',
  tracking_number: 'text?',
  lines: json<readonly ShipmentLine[]>(),
  sent_at: 'timestamptz?',
  voided_at: 'timestamptz?',
  voided_by: 'uuid?',
  void_reason: 'text?',
  version: 'int4',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  ...adminMetadataColumns
} as const
const names = Object.keys(shipment).join(', ')
export const shipmentWithEventsColumns = {
  ...shipment,
  customer_id: 'uuid?',
  token_version: 'int4?',
  events: json<readonly EventJson[]>()
} as const
const whole = `
  select ${names}, customer_id, token_version,
    (select coalesce(jsonb_agg(to_jsonb(e) - 'digest'), '[]') from shipping.events e where shipment_id = s.id) as events`
const selectShipmentSql = `${whole} from shipping.shipments s`
/** SQL that selects shipments with `at`, their position in a list. */
export const selectShipmentsWithListPositionSql = (at: string) =>
  `${whole}, ${at} as at from shipping.shipments s`

export const listShipmentsOfOrder = statement({
  name: 'shipping.list_shipments_of_order',
  takes: { order_id: 'uuid' },
  gives: shipmentWithEventsColumns,
  text: `${selectShipmentSql} where order_id = $order_id order by sent_at nulls last, id`
})
export const findShipment = statement({
  name: 'shipping.find_shipment',
  takes: { id: 'uuid' },
  gives: shipmentWithEventsColumns,
  text: `${selectShipmentSql} where id = $id`
})
/** Finds the parcel that was shipped last with this number, because carriers reuse numbers. */
export const findShipmentByTrackingNumber = statement({
  name: 'shipping.find_tracked',
  takes: { tracking_key: 'text', carrier: 'text?' },
  gives: shipmentWithEventsColumns,
  text: `
    ${selectShipmentSql}
    where tracking_key = $tracking_key and tracking_key <> '' and sent_at is not null
      and ($carrier::text is null or lower($carrier) in (carrier_code, lower(carrier)))
    order by voided_at is not null, sent_at desc, id desc limit 1`
})
export const updateShipmentMetadata = metadataUpdateStatement(
  'shipping.update_shipment_metadata',
  'shipping.shipments',
  ', version = changed.version + 1, updated_at = now()'
)
/** Locks a shipment until `tx` ends. */
export const lockShipmentForMetadata = statement({
  name: 'shipping.lock_shipment_for_metadata',
  takes: { id: 'uuid' },
  gives: { version: 'int4', erased_at: 'timestamptz?' },
  text: 'select version, erased_at from shipping.shipments where id = $id for update'
})
/** Locks a shipment until `tx` ends, so that it is not voided meanwhile. */
export const lockShipmentForLabel = statement({
  name: 'shipping.lock_shipment_for_label',
  takes: { id: 'uuid' },
  gives: {
    order_id: 'uuid',
    method: oneOf<Exclude<ShippingMethodKind, 'digital'>>(),
    status: oneOf<ShipmentStatus>(),
    version: 'int4',
    erased_at: 'timestamptz?'
  },
  text: 'select order_id, method, status, version, erased_at from shipping.shipments where id = $id for update'
})
export const updateShipmentCarrierAndTracking = statement({
  name: 'shipping.update_label',
  takes: {
    id: 'uuid',
    carrier: 'text?',
    carrier_code: 'text?',
    tracking_number: 'text?',
    tracking_key: 'text?'
  },
  text: `
    update shipping.shipments set carrier = $carrier, carrier_code = $carrier_code, tracking_number = $tracking_number,
      tracking_key = $tracking_key, version = version + 1, updated_at = now()
    where id = $id`
})
export type ShipmentWithEvents = RowOf<typeof findShipment>
