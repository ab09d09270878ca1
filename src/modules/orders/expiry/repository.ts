import { statement } from '../../../platform/postgres/statement.ts'

/** Orders that wait for their money, and may have done so for too long; behind this one. */
export const listExpiring = statement({
  name: 'orders.list_expiring',
  takes: { seconds: 'float8', after: 'uuid', limit: 'int8' },
  gives: { id: 'uuid' },
  text: `
    select id from orders.orders
    where state = 'pending' and cancel_requested_at is null and id > $after
      and coalesce(expires_at, created_at + make_interval(secs => $seconds)) <= now()
    order by id limit $limit`
})
/** That many seconds after it was made; answers whether that is over. */
export const updateExpiry = statement({
  name: 'orders.update_expiry',
  takes: { id: 'uuid', seconds: 'float8' },
  gives: { is_over: 'bool' },
  text: `
    update orders.orders set expires_at = created_at + make_interval(secs => $seconds) where id = $id
    returning expires_at <= now() as is_over`
})
