import { oneOf, type RowOf, statement } from '../../../platform/postgres/statement.ts'

/** Claims one due delivery. When the lease expires before the outcome is stored, another process may claim it. */
export const claimDueWebhookDelivery = statement({
  name: 'webhooks.claim_delivery',
  takes: { endpoint_id: 'uuid', lease: 'uuid', seconds: 'float8' },
  gives: {
    id: 'uuid',
    endpoint_id: 'uuid',
    event_id: 'uuid',
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
    returning delivery.id, delivery.endpoint_id, delivery.event_id, delivery.event_type, delivery.body, delivery.tries,
      delivery.lease, endpoint.url, endpoint.secret,
      case when endpoint.previous_until > now() then endpoint.previous_secret end as previous_secret,
      endpoint.failing_since is not null as is_failing`
})
export type ClaimedWebhookDeliveryRow = RowOf<typeof claimDueWebhookDelivery>

/** Stores an attempt and the new status of its delivery. Changes no row when the lease is not valid any more. */
export const recordWebhookAttempt = statement({
  name: 'webhooks.record_attempt',
  takes: {
    id: 'uuid',
    lease: 'uuid',
    status: oneOf<'pending' | 'delivered' | 'dead'>(),
    delay_seconds: 'float8',
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
        status = $status, lease = null, due_at = now() + make_interval(secs => $delay_seconds),
        settled_at = case when $status <> 'pending' then now() end
      where id = $id and lease = $lease and status = 'pending'
      returning id
    )
    insert into webhooks.attempts (id, delivery_id, at, status_code, ms, error, answer)
    select $attempt_id, id, $at, $status_code, $ms, $error, $answer from settled`
})
/** Makes a claimed delivery due again, without counting an attempt. */
export const releaseWebhookDelivery = statement({
  name: 'webhooks.release_delivery',
  takes: { id: 'uuid', lease: 'uuid' },
  text: `
    update webhooks.deliveries set lease = null, due_at = now(), tries = tries - 1
    where id = $id and lease = $lease and status = 'pending'`
})
/** Lists active endpoints with due deliveries. */
export const listWebhookEndpointsWithDueDeliveries = statement({
  name: 'webhooks.list_due_endpoints',
  gives: { id: 'uuid' },
  text: `
    select id from webhooks.endpoints
    where active and exists (
      select from webhooks.deliveries
      where endpoint_id = endpoints.id and status = 'pending' and due_at <= now()
    )`
})
