import { countUpTo } from '../../../platform/postgres/counting.ts'
import { nullableOneOf, statement } from '../../../platform/postgres/statement.ts'
import { selecting, selectWhole, wholeShipment } from '../shipments/repository.ts'
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
  and ($carrier::text is null or carrier_code = lower($carrier) or lower(carrier) = lower($carrier))
  and ($order_id::uuid is null or order_id = $order_id)
  and ($since::timestamptz is null or created_at >= $since)`

/** A time in microseconds, as the database keeps it: a whole number that clients hand back as it is. */
const microsOf = (time: string) => `(extract(epoch from ${time}) * 1000000)::float8`
const AT = `timestamptz 'epoch' + $at * interval '1 microsecond'`

/** The newest first, those behind a place. */
export const listShipments = statement({
  name: 'shipping.list_shipments',
  takes: { ...filters, at: 'float8', id: 'uuid', limit: 'int8' },
  gives: { ...wholeShipment, at: 'float8' },
  slow: true,
  text: `
    ${selecting(microsOf('created_at'))} where (created_at, id) < (${AT}, $id) and ${matching}
    order by created_at desc, id desc limit $limit`
})
export const countShipments = statement({
  name: 'shipping.count_shipments',
  takes: filters,
  gives: { total: 'int4' },
  slow: true,
  text: countUpTo(`shipping.shipments where ${matching}`)
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
/** What was sent on a day, in this time zone, behind a place. */
export const listSentOn = statement({
  name: 'shipping.list_sent_on',
  takes: { day: 'text', zone: 'text', at: 'float8', id: 'uuid', limit: 'int8' },
  gives: { ...wholeShipment, at: 'float8' },
  slow: true,
  text: `
    ${selecting(microsOf('sent_at'))}
    where (sent_at, id) > (${AT}, $id) and voided_at is null and sent_at >= ($day::text::date)::timestamp at time zone $zone
      and sent_at < ($day::text::date + 1)::timestamp at time zone $zone
    order by sent_at, id limit $limit`
})
