import { type RowOf, statement } from '../../../platform/postgres/statement.ts'

const columns = { id: 'uuid', number: 'text', customer_id: 'uuid?', email: 'text?', buyer: 'text' } as const
const select = `select ${Object.keys(columns).join(', ')} from orders.orders`

/** An order whose personal data was not erased. */
export const findUnerasedOrder = statement({
  name: 'orders.find_order_with_data',
  takes: { id: 'uuid' },
  gives: columns,
  text: `${select} where id = $id and erased_at is null`
})
/** Guest orders with this email address. */
export const listGuestOrdersOfEmail = statement({
  name: 'orders.list_guest_orders_of_email',
  takes: { email: 'text' },
  gives: columns,
  text: `${select} where lower(email) = lower($email) and customer_id is null and erased_at is null order by id`
})
/** Completed or canceled guest orders that have not changed since `before`, except in their metadata, oldest first. */
export const listOldGuestOrders = statement({
  name: 'orders.list_old_guest_orders',
  takes: { before: 'timestamptz', limit: 'int8' },
  gives: columns,
  text: `
    ${select}
    where customer_id is null and erased_at is null and state in ('completed', 'canceled') and progressed_at < $before
    order by progressed_at limit $limit`
})
export type GuestOrderRow = RowOf<typeof findUnerasedOrder>
export const listOrderVersions = statement({
  name: 'orders.list_versions',
  takes: { ids: 'uuid[]' },
  gives: { id: 'uuid', version: 'int4' },
  text: 'select id, version from orders.orders where id = any ($ids)'
})
