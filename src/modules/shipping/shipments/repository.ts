import { json, nullableJson, oneOf, statement } from '../../../platform/postgres/statement.ts'
import type { Kind, ShippingOption } from '../rates/options.ts'

type ShipmentStatus = 'pending' | 'in_transit' | 'delivered' | 'returned'

type ShipmentRow = {
  readonly id: string
  readonly group_key: string
  readonly method: Kind
  readonly option_id: string
  readonly provider: string | null
  readonly service: string
  readonly days_min: number | null
  readonly days_max: number | null
}
export const insertShipments = statement({
  name: 'shipping.insert_shipments',
  takes: { order_id: 'uuid', customer_id: 'uuid?', rows: json<readonly ShipmentRow[]>() },
  text: `
    insert into shipping.shipments
      (id, order_id, customer_id, group_key, method, option_id, provider, service, days_min, days_max)
    select id, $order_id, $customer_id, group_key, method, option_id, provider, service, days_min, days_max
    from jsonb_to_recordset($rows) as rows (
      id uuid, group_key text, method text, option_id text, provider text, service text, days_min int, days_max int
    )`
})
export const handOver = statement({
  name: 'shipping.hand_shipments_over',
  takes: { order_id: 'uuid', customer_id: 'uuid' },
  text: 'update shipping.shipments set customer_id = $customer_id where order_id = $order_id'
})
export const eraseShipments = statement({
  name: 'shipping.erase_shipments',
  takes: { order_ids: 'uuid[]' },
  text: 'update shipping.shipments set customer_id = null, tracking_number = null where order_id = any ($order_ids)'
})
export const listShipmentsOfOrder = statement({
  name: 'shipping.list_shipments_of_order',
  takes: { order_id: 'uuid', customer_id: 'uuid' },
  gives: {
    id: 'uuid',
    method: oneOf<Exclude<Kind, 'digital'>>(),
    provider: 'text?',
    service: 'text',
    estimated_days: nullableJson<ShippingOption['estimatedDays']>(),
    status: oneOf<ShipmentStatus>(),
    carrier: 'text?',
    tracking_number: 'text?',
    created_at: 'timestamptz',
    updated_at: 'timestamptz'
  },
  text: `
    select id, method, provider, service,
      case when days_min is not null then jsonb_build_object('min', days_min, 'max', days_max) end as estimated_days,
      status, carrier, tracking_number, created_at, updated_at
    from shipping.shipments where order_id = $order_id and customer_id = $customer_id order by id`
})
