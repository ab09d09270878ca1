import { countUpTo } from '../../../platform/postgres/counting.ts'
import { json, nullableOneOf, oneOf, type RowOf, statement } from '../../../platform/postgres/statement.ts'

export const WEBHOOK_DELIVERY_STATUSES = ['pending', 'delivered', 'dead', 'superseded', 'canceled'] as const
type WebhookDeliveryStatus = (typeof WEBHOOK_DELIVERY_STATUSES)[number]

const columns = {
  id: 'uuid',
  endpoint_id: 'uuid',
  event_id: 'uuid',
  event_type: 'text',
  status: oneOf<WebhookDeliveryStatus>(),
  tries: 'int4',
  due_at: 'timestamptz?',
  created_at: 'timestamptz',
  settled_at: 'timestamptz?'
} as const
/** Only pending deliveries have a next attempt. */
const names = Object.keys(columns)
  .map(name => (name === 'due_at' ? `case when status = 'pending' then due_at end as due_at` : name))
  .join(', ')

/** A delivery of one event to one endpoint. */
export type NewWebhookDelivery = {
  readonly id: string
  readonly endpoint_id: string
  readonly event_id: string
}
/** The part of a delivery that is the same for every endpoint. */
export type WebhookEventContent = {
  readonly event_id: string
  readonly event_type: string
  readonly subject: string
  readonly body: string
}

/** Skips deliveries that exist, so an event that is handled again is not sent again. */
export const insertWebhookDeliveries = statement({
  name: 'webhooks.insert_deliveries',
  takes: { rows: json<NewWebhookDelivery[]>(), events: json<WebhookEventContent[]>() },
  text: `
    insert into webhooks.deliveries (id, endpoint_id, event_id, event_type, subject, body)
    select rows.id, rows.endpoint_id, event.event_id, event.event_type, event.subject, event.body
    from jsonb_to_recordset($rows) as rows (id uuid, endpoint_id uuid, event_id uuid)
    join jsonb_to_recordset($events) as event (event_id uuid, event_type text, subject uuid, body text)
      on event.event_id = rows.event_id
    on conflict (endpoint_id, event_id) do nothing`
})
/** Supersedes pending deliveries of older events of the subjects, except those that are being sent at the moment. */
export const supersedeWebhookDeliveries = statement({
  name: 'webhooks.supersede_deliveries',
  takes: { endpoint_ids: 'uuid[]', subjects: 'uuid[]', event_ids: 'uuid[]', event_type: 'text' },
  text: `
    update webhooks.deliveries set status = 'superseded', lease = null, settled_at = now()
    where status = 'pending' and subject = any ($subjects) and endpoint_id = any ($endpoint_ids)
      and event_type = $event_type and (lease is null or due_at <= now()) and event_id <> all ($event_ids)`
})

const filters = {
  endpoint_id: 'uuid?',
  event_type: 'text?',
  status: nullableOneOf<WebhookDeliveryStatus>()
} as const
const matches = `
  ($endpoint_id::uuid is null or endpoint_id = $endpoint_id) and ($event_type::text is null or event_type = $event_type)
  and ($status::text is null or status = $status)`

/** Lists deliveries below the id `after`, newest first. */
export const listWebhookDeliveries = statement({
  name: 'webhooks.list_deliveries',
  slow: true,
  takes: { ...filters, after: 'uuid', limit: 'int8' },
  gives: columns,
  text: `
    select ${names} from webhooks.deliveries where id < $after and ${matches} order by id desc limit $limit`
})
export const countWebhookDeliveries = statement({
  name: 'webhooks.count_deliveries',
  slow: true,
  takes: filters,
  gives: { total: 'int4' },
  text: countUpTo(`webhooks.deliveries where ${matches}`)
})
export const findWebhookDelivery = statement({
  name: 'webhooks.find_delivery',
  takes: { id: 'uuid' },
  gives: { ...columns, body: 'text' },
  text: `select ${names}, body from webhooks.deliveries where id = $id`
})
export const listWebhookDeliveryAttempts = statement({
  name: 'webhooks.list_attempts',
  takes: { delivery_id: 'uuid', limit: 'int8' },
  gives: { at: 'timestamptz', status_code: 'int4?', ms: 'int4', error: 'text?', answer: 'text?' },
  text: `
    select at, status_code, ms, error, answer from webhooks.attempts
    where delivery_id = $delivery_id order by id desc limit $limit`
})
export type WebhookDeliveryRow = RowOf<typeof listWebhookDeliveries>

/** Makes a delivery of any status pending and due now, unless it is being sent at the moment. */
export const replayWebhookDelivery = statement({
  name: 'webhooks.replay_delivery',
  takes: { id: 'uuid' },
  text: `
    update webhooks.deliveries set
      status = 'pending', tries = 0, due_at = now(), settled_at = null, lease = null
    where id = $id and (lease is null or due_at <= now() or status <> 'pending')`
})
export const countReplayableWebhookDeliveries = statement({
  name: 'webhooks.count_replayable',
  takes: { endpoint_id: 'uuid', since: 'timestamptz', statuses: 'text[]' },
  gives: { total: 'int8' },
  text: `
    select count(*) as total from webhooks.deliveries
    where endpoint_id = $endpoint_id and created_at >= $since and status = any ($statuses)`
})
export const replayWebhookDeliveries = statement({
  name: 'webhooks.replay_deliveries',
  takes: { endpoint_id: 'uuid', since: 'timestamptz', statuses: 'text[]' },
  text: `
    update webhooks.deliveries set status = 'pending', tries = 0, due_at = now(), settled_at = null, lease = null
    where endpoint_id = $endpoint_id and created_at >= $since and status = any ($statuses)`
})
export const cancelWebhookDeliveriesOfEndpoint = statement({
  name: 'webhooks.cancel_deliveries',
  takes: { endpoint_id: 'uuid' },
  text: `
    update webhooks.deliveries set status = 'canceled', lease = null, settled_at = now()
    where endpoint_id = $endpoint_id and status = 'pending'`
})
export const deleteOldWebhookDeliveries = statement({
  name: 'webhooks.delete_old_deliveries',
  takes: { days: 'int4' },
  text: `
    delete from webhooks.deliveries where id in (
      select id from webhooks.deliveries where created_at < now() - make_interval(days => $days)
      order by created_at limit 1000 for update skip locked)`
})
/** Reads the partial indexes of pending and dead deliveries, not the many delivered ones. */
export const measureWebhookBacklog = statement({
  name: 'webhooks.measure_deliveries',
  gives: { pending: 'int8', oldest_seconds: 'float8', dead: 'int8' },
  text: `
    select pending, oldest_seconds,
      (select count(*) from webhooks.deliveries where status = 'dead') as dead
    from (
      select count(*) as pending,
        coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as oldest_seconds
      from webhooks.deliveries where status = 'pending'
    ) waiting`
})
