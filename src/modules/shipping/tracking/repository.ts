import { json, oneOf, statement } from '../../../platform/postgres/statement.ts'
import type { ShipmentStatus } from './rule.ts'

/** A parcel that nobody else changes until `tx` ends. */
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
  readonly status: ShipmentStatus
  readonly occurred_at: Date
  readonly description: string | null
  readonly location: string | null
  readonly estimated_delivery: string | null
  readonly digest: string
}
/** What was told before is told once. */
export const insertEvents = statement({
  name: 'shipping.insert_events',
  takes: { shipment_id: 'uuid', actor: 'uuid', rows: json<readonly EventRow[]>() },
  text: `
    insert into shipping.events
      (id, shipment_id, event_id, status, occurred_at, description, location, estimated_delivery, digest, actor)
    select id, $shipment_id, event_id, status, occurred_at, description, location, estimated_delivery, digest, $actor
    from jsonb_to_recordset($rows) as rows (
      id uuid, event_id text, status text, occurred_at timestamptz, description text, location text,
      estimated_delivery date, digest text
    )
    on conflict on constraint events_once do nothing`
})
export const countEvents = statement({
  name: 'shipping.count_events',
  takes: { shipment_id: 'uuid' },
  gives: { total: 'int4' },
  text: 'select count(*)::int as total from shipping.events where shipment_id = $shipment_id'
})
export const updateStatus = statement({
  name: 'shipping.update_shipment_status',
  takes: { id: 'uuid', status: oneOf<ShipmentStatus>() },
  text: `
    update shipping.shipments set status = $status, version = version + 1, updated_at = now() where id = $id`
})
