import { statement } from '../../../platform/postgres/statement.ts'

/** Of these variants and products, those of which the customer has some in an order that is, or was, looked after. */
export const listBought = statement({
  name: 'orders.list_bought',
  takes: { customer_id: 'uuid', ids: 'uuid[]' },
  gives: { id: 'uuid' },
  text: `
    select wanted.id from unnest($ids::uuid[]) as wanted (id)
    where exists (
      select from orders.orders o join orders.lines l on l.order_id = o.id
      where o.customer_id = $customer_id and o.state in ('placed', 'completed')
        and wanted.id in (l.variant_id, l.product_id) and l.canceled < l.ordered)`
})
