import { json, statement } from '../../../platform/postgres/statement.ts'
import type { Units } from '../life/counters.ts'

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
