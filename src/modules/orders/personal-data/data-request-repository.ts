import { oneOf, statement } from '../../../platform/postgres/statement.ts'

export type DataRequestAction = 'export' | 'erase'

/**
 * Inserts a data request of an e-mail address, unless the address has `most` requests already. Jobs of one
 * address run one after another, so the count is exact.
 */
export const insertDataRequest = statement({
  name: 'orders.insert_data_request',
  takes: { id: 'uuid', email: 'text', action: 'text', most: 'int8' },
  gives: { id: 'uuid' },
  text: `
    insert into orders.data_requests (id, email, action)
    select $id, $email, $action
    where (select count(*) from orders.data_requests where lower(email) = lower($email)) < $most
    on conflict (id) do nothing
    returning id`
})
export const findOpenDataRequest = statement({
  name: 'orders.find_data_request',
  takes: { id: 'uuid', seconds: 'float8' },
  gives: { id: 'uuid', email: 'text', action: oneOf<DataRequestAction>(), created_at: 'timestamptz' },
  text: `
    select id, email, action, created_at from orders.data_requests
    where id = $id and used_at is null and created_at > now() - make_interval(secs => $seconds)`
})

/** Marks a data request as used. Changes no row if the request was used before. */
export const markDataRequestUsed = statement({
  name: 'orders.use_data_request',
  takes: { id: 'uuid', at: 'timestamptz' },
  text: 'update orders.data_requests set used_at = $at where id = $id and used_at is null'
})
export const deleteDataRequestsOfEmail = statement({
  name: 'orders.delete_data_requests_of',
  takes: { email: 'text' },
  text: 'delete from orders.data_requests where lower(email) = lower($email)'
})
export const deleteOldDataRequests = statement({
  name: 'orders.delete_old_data_requests',
  takes: { seconds: 'float8' },
  text: `
    delete from orders.data_requests where id in (
      select id from orders.data_requests where created_at < now() - make_interval(secs => $seconds) limit 1000)`
})
