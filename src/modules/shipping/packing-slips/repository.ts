import type { Metadata } from '../../../kernel/metadata.ts'
import { countUpTo } from '../../../platform/postgres/counting.ts'
import { hasMetadataSql } from '../../../platform/postgres/metadata.ts'
import { nullableJson, nullableOneOf, statement } from '../../../platform/postgres/statement.ts'
import { selectShipmentsWithListPositionSql, shipmentWithEventsColumns } from '../shipments/repository.ts'
import type { ShipmentStatus } from '../tracking/status.ts'

/** Filters of lists of shipments. A null filter matches all. */
const filters = {
  status: nullableOneOf<ShipmentStatus>(),
  carrier: 'text?',
  order_id: 'uuid?',
  since: 'timestamptz?',
  metadata: nullableJson<Metadata>()
} as const
const matching = `
  ${hasMetadataSql} and
  ($status::text is null or status = $status)
  and ($carrier::text is null or carrier_code = lower($carrier) or lower(carrier) = lower($carrier))
  and ($order_id::uuid is null or order_id = $order_id)
  and ($since::timestamptz is null or created_at >= $since)`

/** A time in microseconds, the precision of the database. It is an integer, so cursors return it unchanged. */
const microsOf = (time: string) => `(extract(epoch from ${time}) * 1000000)::float8`
const AT = `timestamptz 'epoch' + $at * interval '1 microsecond'`

/** Lists a page of shipments, newest first. */
export const listShipments = statement({
  name: 'shipping.list_shipments',
  takes: { ...filters, at: 'float8', id: 'uuid', limit: 'int8' },
  gives: { ...shipmentWithEventsColumns, at: 'float8' },
  slow: true,
  text: `
    ${selectShipmentsWithListPositionSql(microsOf('created_at'))} where (created_at, id) < (${AT}, $id) and ${matching}
    order by created_at desc, id desc limit $limit`
})
export const countShipments = statement({
  name: 'shipping.count_shipments',
  takes: filters,
  gives: { total: 'int4' },
  slow: true,
  text: countUpTo(`shipping.shipments where ${matching}`)
})
/** Lists a page of unshipped shipments, oldest first. Their status is pending, so the index of the status finds them. */
export const listUnshippedShipments = statement({
  name: 'shipping.list_unshipped',
  takes: { at: 'float8', id: 'uuid', limit: 'int8' },
  gives: { ...shipmentWithEventsColumns, at: 'float8' },
  slow: true,
  text: `
    ${selectShipmentsWithListPositionSql(microsOf('created_at'))}
    where status = 'pending' and sent_at is null and token_version is not null and (created_at, id) > (${AT}, $id)
    order by created_at, id limit $limit`
})
/** Lists a page of parcels that were shipped on a day of this time zone. */
export const listShipmentsSentOnDay = statement({
  name: 'shipping.list_sent_on',
  takes: { day: 'text', zone: 'text', at: 'float8', id: 'uuid', limit: 'int8' },
  gives: { ...shipmentWithEventsColumns, at: 'float8' },
  slow: true,
  text: `
    ${selectShipmentsWithListPositionSql(microsOf('sent_at'))}
    where (sent_at, id) > (${AT}, $id) and voided_at is null and sent_at >= ($day::text::date)::timestamp at time zone $zone
      and sent_at < ($day::text::date + 1)::timestamp at time zone $zone
    order by sent_at, id limit $limit`
})
