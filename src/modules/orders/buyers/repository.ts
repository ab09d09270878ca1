import { statement } from '../../../platform/postgres/statement.ts'

/**
 * Returns which of these variants and products the customer has bought: in a placed or completed order, not
 * canceled.
 */
export const listPurchasedCatalogIds = statement({
  name: 'orders.list_bought',
  takes: { customer_id: 'uuid', ids: 'uuid[]' },
  gives: { id: 'uuid' },
  text: `
    select candidate.id from unnest($ids::uuid[]) as candidate (id)
    where exists (
      select from orders.orders o join orders.lines l on l.order_id = o.id
      where o.customer_id = $customer_id and o.state in ('placed', 'completed')
        and candidate.id in (l.variant_id, l.product_id) and l.canceled < l.ordered)`
})
/**
 * Whether an account has an order that is not canceled, or a mailbox has a paid one. An unpaid order counts
 * only for a guest with the same mailbox and network.
 */
export const findWhetherBuyerOrdered = statement({
  name: 'orders.has_ordered',
  takes: { customer: 'text', customer_id: 'uuid?', mailbox: 'text?', but: 'uuid?' },
  gives: { has_ordered: 'bool' },
  text: `
    select exists (
      select from orders.orders
      where right(mailbox, 7) = right($mailbox, 7) and mailbox = $mailbox and state <> 'canceled' and id is distinct from $but
        and (state <> 'pending' and payment_status is distinct from 'unpaid'
          and payment_status is distinct from 'partially_paid'
          or concat_ws(' ', mailbox, network) = $customer)
    ) or exists (
      select from orders.orders where customer_id = $customer_id and state <> 'canceled' and id is distinct from $but
    ) as has_ordered`
})
