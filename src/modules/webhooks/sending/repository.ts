import { oneOf, type RowOf, statement } from '../../../platform/postgres/statement.ts'

/** Takes one thing that is due. It is this process's until the lease ends: then another one sends it again. */
export const claimDelivery = statement({
  name: 'webhooks.claim_delivery',
  takes: { endpoint_id: 'uuid', lease: 'uuid', seconds: 'float8' },
  gives: {
    id: 'uuid',
    endpoint_id: 'uuid',
    event_type: 'text',
    body: 'text',
    tries: 'int4',
    lease: 'uuid?',
    url: 'text',
    secret: 'bytea',
    previous_secret: 'bytea?',
    is_failing: 'bool'
  },
  text: `
    update webhooks.deliveries delivery set
      lease = $lease, tries = delivery.tries + 1, due_at = now() + make_interval(secs => $seconds)
    from webhooks.endpoints endpoint
    where delivery.id = (
        select id from webhooks.deliveries
        where endpoint_id = $endpoint_id and status = 'pending' and due_at <= now()
        order by due_at limit 1 for update skip locked
      )
      and endpoint.id = delivery.endpoint_id and endpoint.active
    returning delivery.id, delivery.endpoint_id, delivery.event_type, delivery.body, delivery.tries, delivery.lease,
      endpoint.url, endpoint.secret,
      case when endpoint.previous_until > now() then endpoint.previous_secret end as previous_secret,
      endpoint.failing_since is not null as is_failing`
})
export type ClaimedRow = RowOf<typeof claimDelivery>

/** Notes a try and what becomes of the delivery: it is over, or due again. Nothing when another one has it by now. */
export const settleDelivery = statement({
  name: 'webhooks.settle_delivery',
  takes: {
    id: 'uuid',
    lease: 'uuid',
    status: oneOf<'pending' | 'delivered' | 'dead'>(),
    pause_seconds: 'float8',
    attempt_id: 'uuid',
    at: 'timestamptz',
    status_code: 'int4?',
    ms: 'int4',
    error: 'text?',
    answer: 'text?'
  },
  text: `
    with settled as (
      update webhooks.deliveries set
        status = $status, lease = null, due_at = now() + make_interval(secs => $pause_seconds),
        settled_at = case when $status <> 'pending' then now() end
      where id = $id and lease = $lease and status = 'pending'
      returning id
    )
    insert into webhooks.attempts (id, delivery_id, at, status_code, ms, error, answer)
    select $attempt_id, id, $at, $status_code, $ms, $error, $answer from settled`
})
/** It was not tried: whoever comes next tries it. */
export const giveBack = statement({
  name: 'webhooks.give_back',
  takes: { id: 'uuid', lease: 'uuid' },
  text: `
    update webhooks.deliveries set lease = null, due_at = now(), tries = tries - 1
    where id = $id and lease = $lease and status = 'pending'`
})
/** Endpoints that something is due for. */
export const listDueEndpoints = statement({
  name: 'webhooks.list_due_endpoints',
  gives: { id: 'uuid' },
  text: `
    select id from webhooks.endpoints
    where active and exists (
      select from webhooks.deliveries
      where endpoint_id = endpoints.id and status = 'pending' and due_at <= now()
    )`
})
