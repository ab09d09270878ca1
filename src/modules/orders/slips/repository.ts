import { json, nullableJson, statement } from '../../../platform/postgres/statement.ts'
import type { AddressDraft } from '../checkouts/addresses.ts'

type LineJson = {
  readonly line: number
  readonly sku: string
  readonly name: string
  readonly variant_name: string
}
/** What is written on parcels of these orders, and into them. */
export const listForSlips = statement({
  name: 'orders.list_for_slips',
  takes: { ids: 'uuid[]' },
  gives: {
    id: 'uuid',
    number: 'text',
    address: nullableJson<AddressDraft>(),
    lines: json<readonly LineJson[]>()
  },
  text: `
    select id, number, shipping_address as address,
      (select coalesce(jsonb_agg(jsonb_build_object(
        'line', line, 'sku', sku, 'name', name, 'variant_name', variant_name) order by line), '[]')
       from orders.lines where order_id = o.id) as lines
    from orders.orders o where id = any ($ids)`
})
