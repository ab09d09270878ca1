import { json, oneOf, statement } from '../../../platform/postgres/statement.ts'
import type { ShipmentStatus, TrackingStatus } from './status.ts'

/** Locks a parcel until `tx` ends. */
export const lockShipment = statement({
  name: 'shipping.lock_shipment',
  takes: { id: 'uuid' },
  gives: {
    order_id: 'uuid',
    status: oneOf<ShipmentStatus>(),
    sent_at: 'timestamptz?',
    version: 'int4'
  },
  text: 'select order_id, status, sent_at, version from shipping.shipments where id = $id for update'
})
type EventRow = {
  readonly id: string
  readonly event_id: string | null
  readonly status: TrackingStatus
  readonly occurred_at: Date
  readonly description: string | null
  readonly location: string | null
  readonly estimated_delivery: string | null
  readonly digest: string
}
/** Inserts events once. An event with the carrier id of a voided one is inserted as voided. */
export const insertTrackingEvents = statement({
  name: 'shipping.insert_events',
  takes: { shipment_id: 'uuid', actor: 'uuid', rows: json<readonly EventRow[]>() },
  text: `
    insert into shipping.events
      (id, shipment_id, event_id, status, occurred_at, description, location, estimated_delivery, digest, actor,
       voided_at, voided_by, void_reason)
    select id, $shipment_id, event_id, status, occurred_at, description, location, estimated_delivery, digest, $actor,
      wrong.voided_at, wrong.voided_by, wrong.void_reason
    from jsonb_to_recordset($rows) as rows (
      id uuid, event_id text, status text, occurred_at timestamptz, description text, location text,
      estimated_delivery date, digest text
    ) left join lateral (
      select e.voided_at, e.voided_by, e.void_reason from shipping.events e
      where e.shipment_id = $shipment_id and e.event_id = rows.event_id and e.voided_at is not null limit 1
    ) as wrong on true
    on conflict on constraint events_once do nothing`
})
export const listTrackingEventStatuses = statement({
  name: 'shipping.list_events',
  takes: { shipment_id: 'uuid' },
  gives: { id: 'uuid', status: oneOf<TrackingStatus>(), told_at: 'timestamptz', voided_at: 'timestamptz?' },
  text: 'select id, status, told_at, voided_at from shipping.events where shipment_id = $shipment_id'
})
/** Lists parcels that have a valid event with this status. */
export const listShipmentIdsByEventStatus = statement({
  name: 'shipping.list_reported',
  takes: { shipment_ids: 'uuid[]', status: oneOf<TrackingStatus>() },
  gives: { id: 'uuid' },
  text: `
    select distinct shipment_id as id from shipping.events
    where shipment_id = any ($shipment_ids) and status = $status and voided_at is null`
})
/** Voids an event and all events with the same carrier id. */
export const voidTrackingEventWithDuplicates = statement({
  name: 'shipping.void_events',
  takes: { shipment_id: 'uuid', id: 'uuid', actor: 'uuid?', reason: 'text' },
  text: `
    update shipping.events set voided_at = now(), voided_by = $actor, void_reason = $reason
    from shipping.events wrong
    where wrong.id = $id and wrong.shipment_id = $shipment_id and events.shipment_id = $shipment_id
      and (events.id = wrong.id or events.event_id = wrong.event_id) and events.voided_at is null`
})
export const updateShipmentStatus = statement({
  name: 'shipping.update_shipment_status',
  takes: { id: 'uuid', status: oneOf<TrackingStatus>() },
  text: `
    update shipping.shipments set status = $status, version = version + 1, updated_at = now() where id = $id`
})
export const markShipmentVoided = statement({
  name: 'shipping.void_parcel',
  takes: { id: 'uuid', actor: 'uuid?', reason: 'text' },
  text: `
    update shipping.shipments set status = 'voided', voided_at = now(), voided_by = $actor, void_reason = $reason,
      version = version + 1, updated_at = now()
    where id = $id`
})
