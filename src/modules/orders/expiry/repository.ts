import { statement } from '../../../platform/postgres/statement.ts'
import { lockedOrderUpdate } from '../lifecycle/repository.ts'

/**
 * Lists pending orders that may have expired, by id, starting after `after`. `seconds`: the timeout of orders
 * without an expiry.
 */
export const listExpiringOrders = statement({
  name: 'orders.list_expiring',
  takes: { seconds: 'float8', after: 'uuid', limit: 'int8' },
  gives: { id: 'uuid' },
  text: `
    select id from orders.orders
    where state = 'pending' and cancel_requested_at is null and id > $after
      and coalesce(expires_at, created_at + make_interval(secs => $seconds)) <= now()
    order by id limit $limit`
})
/** Sets the expiry to `seconds` after the creation of the order. */
export const updateOrderExpiry = lockedOrderUpdate({
  name: 'orders.update_expiry',
  takes: { seconds: 'float8' },
  text: `
    update orders.orders set expires_at = new.at, version = version + (expires_at is distinct from new.at)::int,
      updated_at = case when expires_at is distinct from new.at then now() else updated_at end,
      progressed_at = case when expires_at is distinct from new.at then now() else progressed_at end
    from (select created_at + make_interval(secs => $seconds) as at from orders.orders where id = $id) as new
    where id = $id`
})
