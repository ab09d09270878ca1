import { nullableOneOf, statement } from '../../../platform/postgres/statement.ts'
import { selectWhole, wholeShipment } from '../shipments/repository.ts'
import type { ShipmentStatus } from '../tracking/rule.ts'

/** What is null lets all pass. */
const filters = {
  status: nullableOneOf<ShipmentStatus>(),
  carrier: 'text?',
  order_id: 'uuid?',
  since: 'timestamptz?'
} as const
const matching = `
  ($status::text is null or status = $status)
  and ($carrier::text is null or lower($carrier) in (carrier_code, lower(carrier)))
  and ($order_id::uuid is null or order_id = $order_id)
  and ($since::timestamptz is null or created_at >= $since)`

/** When it was made, in milliseconds. */
const AT = 'floor(extract(epoch from created_at) * 1000)::int8'

/** The newest first, those behind a place. */
export const listShipments = statement({
  name: 'shipping.list_shipments',
  takes: { ...filters, at: 'int8', id: 'uuid', limit: 'int8' },
  gives: wholeShipment,
  slow: true,
  text: `${selectWhole} where (${AT}, id) < ($at, $id) and ${matching} order by ${AT} desc, id desc limit $limit`
})
export const countShipments = statement({
  name: 'shipping.count_shipments',
  takes: filters,
  gives: { total: 'int8' },
  slow: true,
  text: `select count(*) as total from shipping.shipments where ${matching}`
})
/** What is still to be sent, the oldest first, behind a place. */
export const listWaiting = statement({
  name: 'shipping.list_waiting',
  takes: { order_id: 'uuid', id: 'uuid', limit: 'int8' },
  gives: wholeShipment,
  slow: true,
  text: `
    ${selectWhole} where sent_at is null and token_version is not null and (order_id, id) > ($order_id, $id)
    order by order_id, id limit $limit`
})
/** What was sent on a day, in this time zone. */
export const listSentOn = statement({
  name: 'shipping.list_sent_on',
  takes: { day: 'text', zone: 'text', limit: 'int8' },
  gives: wholeShipment,
  slow: true,
  text: `
    ${selectWhole}
    where sent_at >= ($day::text::date)::timestamp at time zone $zone
      and sent_at < ($day::text::date + 1)::timestamp at time zone $zone
    order by sent_at, id limit $limit`
})
