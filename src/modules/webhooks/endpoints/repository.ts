import { countUpTo } from '../../../platform/postgres/counting.ts'
import { nullableOneOf, type RowOf, statement } from '../../../platform/postgres/statement.ts'

export type WebhookEndpointDisabledReason = 'failing' | 'gone'

const columns = {
  id: 'uuid',
  url: 'text',
  description: 'text',
  event_types: 'text[]?',
  active: 'bool',
  disabled_reason: nullableOneOf<WebhookEndpointDisabledReason>(),
  failing_since: 'timestamptz?',
  previous_until: 'timestamptz?',
  version: 'int4',
  created_at: 'timestamptz'
} as const
const names = Object.keys(columns).join(', ')

/** Lists endpoints below the id `after`, newest first. */
export const listWebhookEndpoints = statement({
  name: 'webhooks.list_endpoints',
  takes: { after: 'uuid', limit: 'int8' },
  gives: columns,
  text: `select ${names} from webhooks.endpoints where id < $after order by id desc limit $limit`
})
export const countWebhookEndpoints = statement({
  name: 'webhooks.count_endpoints',
  gives: { total: 'int4' },
  text: countUpTo('webhooks.endpoints')
})
export const findWebhookEndpoint = statement({
  name: 'webhooks.find_endpoint',
  takes: { id: 'uuid' },
  gives: columns,
  text: `select ${names} from webhooks.endpoints where id = $id`
})
export type WebhookEndpointRow = RowOf<typeof findWebhookEndpoint>

export const lockWebhookEndpoint = statement({
  name: 'webhooks.lock_endpoint',
  takes: { id: 'uuid' },
  gives: columns,
  text: `select ${names} from webhooks.endpoints where id = $id for update`
})
/** Serializes the creation of endpoints, so that concurrent requests cannot exceed the limit. */
export const lockWebhookEndpointCreation = statement({
  name: 'webhooks.lock_endpoints',
  text: `select pg_advisory_xact_lock(hashtextextended('webhooks.endpoints', 0))`
})
export const listActiveWebhookEndpoints = statement({
  name: 'webhooks.list_active_endpoints',
  gives: { id: 'uuid', event_types: 'text[]?' },
  text: 'select id, event_types from webhooks.endpoints where active order by id'
})
export const findWebhookSigningSecret = statement({
  name: 'webhooks.find_secret',
  takes: { id: 'uuid' },
  gives: { secret: 'bytea' },
  text: 'select secret from webhooks.endpoints where id = $id'
})
export const insertWebhookEndpoint = statement({
  name: 'webhooks.insert_endpoint',
  takes: {
    id: 'uuid',
    url: 'text',
    description: 'text',
    event_types: 'text[]?',
    active: 'bool',
    secret: 'bytea'
  },
  text: `
    insert into webhooks.endpoints (id, url, description, event_types, active, secret)
    values ($id, $url, $description, $event_types, $active, $secret)`
})
/** Enabling or disabling an endpoint resets its failure state. */
export const updateWebhookEndpoint = statement({
  name: 'webhooks.update_endpoint',
  takes: { id: 'uuid', url: 'text', description: 'text', event_types: 'text[]?', active: 'bool' },
  text: `
    update webhooks.endpoints set
      url = $url, description = $description, event_types = $event_types, active = $active,
      disabled_reason = case when active = $active then disabled_reason end,
      failing_since = case when active = $active then failing_since end, version = version + 1
    where id = $id`
})
export const rotateWebhookSigningSecret = statement({
  name: 'webhooks.rotate_secret',
  takes: { id: 'uuid', secret: 'bytea', overlap_hours: 'int4' },
  text: `
    update webhooks.endpoints set
      previous_secret = case when $overlap_hours > 0 then secret end,
      previous_until = case when $overlap_hours > 0 then now() + make_interval(hours => $overlap_hours) end,
      secret = $secret, version = version + 1
    where id = $id`
})
/** Deletes previous secrets that no longer sign. */
export const deleteExpiredWebhookSigningSecrets = statement({
  name: 'webhooks.delete_expired_secrets',
  text: `
    update webhooks.endpoints set previous_secret = null, previous_until = null where previous_until <= now()`
})
export const deleteWebhookEndpoint = statement({
  name: 'webhooks.delete_endpoint',
  takes: { id: 'uuid' },
  text: 'delete from webhooks.endpoints where id = $id'
})
/** Stores the time of the first failure, and disables an endpoint that is gone or has failed for `days`. */
export const recordWebhookEndpointFailure = statement({
  name: 'webhooks.record_failure',
  takes: { id: 'uuid', is_gone: 'bool', days: 'int4' },
  gives: {
    active: 'bool',
    disabled_reason: nullableOneOf<WebhookEndpointDisabledReason>(),
    failing_since: 'timestamptz?'
  },
  text: `
    update webhooks.endpoints endpoint set
      failing_since = since, active = reason is null, disabled_reason = reason,
      version = version + case when reason is null then 0 else 1 end
    from (
      select id, since, case
        when $is_gone then 'gone' when since <= now() - make_interval(days => $days) then 'failing' end as reason
      from (select id, coalesce(failing_since, now()) as since from webhooks.endpoints where id = $id) present
    ) judged
    where endpoint.id = judged.id and endpoint.active
    returning endpoint.active, endpoint.disabled_reason, endpoint.failing_since`
})
export const recordWebhookEndpointSuccess = statement({
  name: 'webhooks.record_success',
  takes: { id: 'uuid' },
  text: 'update webhooks.endpoints set failing_since = null where id = $id and failing_since is not null'
})
