import type { Metadata } from '../../../kernel/metadata.ts'
import { boundedSearchSql } from '../../../platform/postgres/bounded-search.ts'
import { countUpTo } from '../../../platform/postgres/counting.ts'
import {
  hasMetadataSql,
  metadataMatchSql,
  metadataSearchSqlParts,
  metadataUpdateStatement
} from '../../../platform/postgres/metadata.ts'
import {
  json,
  nullableJson,
  nullableOneOf,
  type RowOf,
  statement
} from '../../../platform/postgres/statement.ts'
import type { OrderLineRow } from '../lifecycle/line-columns.ts'
import type { FulfillmentStatus, OrderPaymentStatus, OrderStatus } from '../lifecycle/status.ts'
import {
  type DeliveryGroupRow,
  type OrderTenderRow,
  orderAddressColumns,
  orderSummaryColumns,
  orderSummaryColumnsSql,
  orderTendersSql,
  type PriceComponentRow
} from '../orders/repository.ts'

/** Filters of a list. Null: no filter. */
const filters = {
  status: nullableOneOf<OrderStatus>(),
  payment_status: nullableOneOf<OrderPaymentStatus>(),
  fulfillment_status: nullableOneOf<FulfillmentStatus>(),
  customer_id: 'uuid?',
  placed: 'bool?',
  email: 'text?',
  number: 'text?',
  from: 'timestamptz?',
  to: 'timestamptz?'
} as const
const withMetadata = { ...filters, metadata: json<Metadata>() } as const
const withAnyMetadata = { ...filters, metadata: nullableJson<Metadata>() } as const
const matching = `
  ($status::text is null or status = $status)
  and ($payment_status::text is null or payment_status = $payment_status)
  and ($fulfillment_status::text is null or fulfillment_status = $fulfillment_status)
  and ($customer_id::uuid is null or customer_id = $customer_id)
  and ($placed::bool is null or (placed_at is not null) = $placed)
  and ($email::text is null or lower(email) = lower($email))
  and ($number::text is null or number = $number)
  and ($from::timestamptz is null or created_at >= $from)
  and ($to::timestamptz is null or created_at < $to)`

export const listAllOrders = statement({
  name: 'orders.list_all_orders',
  takes: { ...filters, after: 'uuid', limit: 'int8' },
  gives: { ...orderSummaryColumns, quantity: 'int8' },
  slow: true,
  text: `
    select ${orderSummaryColumnsSql},
      (select coalesce(sum(ordered - canceled), 0)::int8 from orders.lines where order_id = o.id) as quantity
    from orders.orders o where id < $after and ${matching} order by id desc limit $limit`
})
/** Lists orders that match the filters and have this metadata, newest first. */
export const listOrdersMatchingMetadata = statement({
  name: 'orders.list_orders_with_metadata',
  takes: { ...withMetadata, after: 'uuid', limit: 'int8' },
  gives: { ...orderSummaryColumns, quantity: 'int8' },
  slow: true,
  text: boundedSearchSql({
    table: 'orders.orders',
    columns: orderSummaryColumnsSql,
    where: `id < $after and ${matching}`,
    by: 'id desc',
    ...metadataSearchSqlParts,
    shown: `${orderSummaryColumnsSql},
      (select coalesce(sum(ordered - canceled), 0)::int8 from orders.lines where order_id = page.id) as quantity`
  })
})
/** Changes the metadata of an order. */
export const updateOrderMetadata = metadataUpdateStatement(
  'orders.update_metadata',
  'orders.orders',
  ', version = changed.version + 1, updated_at = now()'
)
/** Lists orders by the time of their last change. `at` is in microseconds since 1970. */
export const listOrdersChangedSince = statement({
  name: 'orders.list_changed_orders',
  takes: { at: 'float8', after: 'uuid', limit: 'int8' },
  gives: { ...orderSummaryColumns, quantity: 'int8', changed_at: 'int8' },
  slow: true,
  text: `
    select ${orderSummaryColumnsSql},
      (select coalesce(sum(ordered - canceled), 0)::int8 from orders.lines where order_id = o.id) as quantity,
      (extract(epoch from updated_at) * 1000000)::int8 as changed_at
    from orders.orders o
    where (updated_at, id) > (timestamptz 'epoch' + $at * interval '1 microsecond', $after)
    order by updated_at, id limit $limit`
})
export const countOrdersChangedSince = statement({
  name: 'orders.count_changed_orders',
  takes: { since: 'timestamptz' },
  gives: { total: 'int4' },
  slow: true,
  text: countUpTo('orders.orders where updated_at >= $since')
})
export const listOrdersForAdminExport = statement({
  name: 'orders.export_orders',
  takes: { ...withAnyMetadata, after: 'uuid', limit: 'int8' },
  gives: {
    ...orderSummaryColumns,
    ...orderAddressColumns,
    metadata: json<Metadata>(),
    tendered: 'int8',
    tenders: json<OrderTenderRow[]>()
  },
  slow: true,
  text: `
    select ${orderSummaryColumnsSql}, shipping_address, billing_address, metadata, tendered, ${orderTendersSql} as tenders
    from orders.orders o where id < $after and ${matching} and ${hasMetadataSql} order by id desc limit $limit`
})
export type ExportedOrderRow = RowOf<typeof listOrdersForAdminExport>

/** Lists orders with the columns that exported rows of lines and taxes need. */
export const listOrderDetailsForAdminExport = statement({
  name: 'orders.export_details',
  takes: { ...withAnyMetadata, after: 'uuid', limit: 'int8' },
  gives: {
    ...orderSummaryColumns,
    ...orderAddressColumns,
    lines: json<OrderLineRow[]>(),
    groups: json<DeliveryGroupRow[]>(),
    components: json<PriceComponentRow[]>()
  },
  slow: true,
  text: `
    select ${orderSummaryColumnsSql}, shipping_address, billing_address,
      (select coalesce(jsonb_agg(to_jsonb(l) order by line), '[]') from orders.lines l where order_id = o.id) as lines,
      (select coalesce(jsonb_agg(to_jsonb(g) order by group_key), '[]') from orders.groups g where order_id = o.id) as groups,
      (select coalesce(jsonb_agg(to_jsonb(c) order by position), '[]') from orders.components c where order_id = o.id)
        as components
    from orders.orders o where id < $after and ${matching} and ${hasMetadataSql} order by id desc limit $limit`
})
export type ExportedOrderDetailsRow = RowOf<typeof listOrderDetailsForAdminExport>

export const countAllOrders = statement({
  name: 'orders.count_all_orders',
  takes: filters,
  gives: { total: 'int4' },
  slow: true,
  text: countUpTo(`orders.orders where ${matching}`)
})
export const countOrdersMatchingMetadata = statement({
  name: 'orders.count_orders_with_metadata',
  takes: withMetadata,
  gives: { total: 'int4' },
  slow: true,
  text: countUpTo(`orders.orders where ${matching} and ${metadataMatchSql('$metadata')}`)
})
