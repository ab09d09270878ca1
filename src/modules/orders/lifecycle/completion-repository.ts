import { statement } from '../../../platform/postgres/statement.ts'

/**
 * The condition for automatic completion: that of the index `orders_done`, plus conditions on lines and time.
 */
const IS_DONE = `
  state = 'placed' and fulfillment_status in ('fulfilled', 'partially_returned', 'returned', 'not_required')
  and coalesce(payment_status, 'paid') in ('paid', 'partially_refunded', 'refunded')
  and cancel_requested_at is null and held_at is null and not is_disputed
  and progressed_at <= now() - make_interval(secs => $seconds)
  and not exists (select from orders.lines where order_id = orders.id and canceled + fulfilled < ordered)`

/** Lists fully shipped and paid orders that have not changed for `seconds`, except in their metadata, oldest change first. */
export const listOrdersToComplete = statement({
  name: 'orders.list_done',
  takes: { seconds: 'float8', limit: 'int8' },
  gives: { id: 'uuid' },
  text: `select id from orders.orders where ${IS_DONE} order by progressed_at limit $limit`
})
/** Checks again whether an order can be completed, once the caller has locked its row. */
export const findOrderIfStillCompletable = statement({
  name: 'orders.find_done',
  takes: { id: 'uuid', seconds: 'float8' },
  gives: { id: 'uuid' },
  text: `select id from orders.orders where id = $id and ${IS_DONE}`
})
