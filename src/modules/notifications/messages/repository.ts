import { countUpTo } from '../../../platform/postgres/counting.ts'
import { json, nullableOneOf, oneOf, type RowOf, statement } from '../../../platform/postgres/statement.ts'

export type NotificationStatus = 'pending' | 'sent' | 'dead' | 'canceled' | 'suppressed' | 'skipped'
export type NotificationChannel = 'email' | 'log'

export type NewNotification = {
  readonly id: string
  readonly template: string
  readonly channel: NotificationChannel
  readonly customer_id: string | null
  readonly locale: string
  readonly recipient: string
  readonly recipient_name: string | null
  readonly data: Readonly<Record<string, unknown>>
  readonly gives_up_at: Date
}

/**
 * Inserts messages. Skips those that are stored already, and returns the ids of the inserted ones. `isQueued`: a job sends them;
 * otherwise their first attempt begins at the commit.
 */
export const insertNotifications = statement({
  name: 'notifications.insert_messages',
  takes: { rows: 'text', isQueued: 'bool' },
  gives: { id: 'uuid' },
  text: `
    insert into notifications.messages (
      id, template, channel, status, unsent_status, customer_id, locale, recipient, recipient_name, data, gives_up_at)
    select id, template, channel, 'pending', case when $isQueued then 'pending' end, customer_id, locale, recipient,
      recipient_name, data, gives_up_at
    from json_to_recordset($rows::text::json) as rows (
      id uuid, template text, channel text, customer_id uuid, locale text, recipient text, recipient_name text, data json,
      gives_up_at timestamptz)
    on conflict (id) do nothing
    returning id`
})
/**
 * Finds a pending message of this turn. Returns no row when the message has another turn by now, or is not
 * pending.
 */
export const findPendingNotificationOfTurn = statement({
  name: 'notifications.find_due_message',
  takes: { id: 'uuid', turn: 'int4' },
  gives: {
    id: 'uuid',
    template: 'text',
    channel: oneOf<NotificationChannel>(),
    customer_id: 'uuid?',
    locale: 'text',
    recipient: 'text?',
    recipient_name: 'text?',
    data: json<Readonly<Record<string, unknown>>>(),
    attempts: 'int4',
    created_at: 'timestamptz',
    is_last: 'bool'
  },
  text: `
    select id, template, channel, customer_id, locale, recipient, recipient_name, data::jsonb as data, attempts,
      created_at, gives_up_at <= now() as is_last
    from notifications.messages where id = $id and turn = $turn and status = 'pending'`
})
export type DueNotificationRow = RowOf<typeof findPendingNotificationOfTurn>

/** Stores the final outcome of a message. */
export const recordFinalNotificationStatus = statement({
  name: 'notifications.settle_message',
  takes: {
    id: 'uuid',
    turn: 'int4',
    status: oneOf<Exclude<NotificationStatus, 'pending'>>(),
    error: 'text?'
  },
  text: `
    update notifications.messages set
      status = $status, unsent_status = case when $status::text <> 'sent' then $status end, error = $error,
      attempts = attempts + 1, turn = turn + 1, settled_at = now()
    where id = $id and turn = $turn and status = 'pending'`
})
/** Stores a failed attempt and the time of the next one. */
export const scheduleNotificationRetry = statement({
  name: 'notifications.postpone_message',
  takes: { id: 'uuid', turn: 'int4', error: 'text', seconds: 'float8' },
  text: `
    update notifications.messages set
      unsent_status = 'pending', error = $error, attempts = attempts + 1, turn = turn + 1,
      due_at = now() + make_interval(secs => $seconds)
    where id = $id and turn = $turn and status = 'pending'`
})
/** Counts messages without those whose first attempt runs. */
export const measureNotificationBacklog = statement({
  name: 'notifications.measure_messages',
  gives: { pending: 'int8', dead: 'int8', oldest_seconds: 'float8' },
  text: `
    select count(*) filter (where unsent_status = 'pending') as pending,
      count(*) filter (where unsent_status = 'dead') as dead,
      coalesce(extract(epoch from now() - min(created_at) filter (where unsent_status = 'pending')), 0)::float8
        as oldest_seconds
    from notifications.messages where unsent_status in ('pending', 'dead')`
})
export const deleteOldNotifications = statement({
  name: 'notifications.delete_old_messages',
  takes: { before: 'uuid' },
  text: `
    delete from notifications.messages where id in (
      select id from notifications.messages where status <> 'pending' and id < $before order by id limit 1000)`
})

const listed = {
  id: 'uuid',
  template: 'text',
  channel: oneOf<NotificationChannel>(),
  status: oneOf<NotificationStatus>(),
  customer_id: 'uuid?',
  locale: 'text',
  recipient: 'text?',
  attempts: 'int4',
  error: 'text?',
  created_at: 'timestamptz',
  due_at: 'timestamptz?',
  settled_at: 'timestamptz?'
} as const
/** Only pending messages have a next attempt. */
const columns = `id, template, channel, status, customer_id, locale, recipient, attempts, error, created_at,
      case when status = 'pending' then due_at end as due_at, settled_at`
/** A filter that is null matches every message. `recent`: the lowest id of a message whose first attempt may still run. */
const filters = {
  status: nullableOneOf<NotificationStatus>(),
  recent: 'uuid',
  template: 'text?',
  recipient: 'text?'
} as const
const matching = `
  ($status::text is null or unsent_status = $status or ($status = 'sent' and status = 'sent')
    or ($status = 'pending' and status = 'pending' and unsent_status is null and id >= $recent))
  and ($template::text is null or template = $template)
  and ($recipient::text is null or recipient = $recipient)`

export const listNotifications = statement({
  name: 'notifications.list_messages',
  slow: true,
  takes: { ...filters, after: 'uuid', limit: 'int8' },
  gives: listed,
  text: `
    select ${columns} from notifications.messages
    where id < $after and ${matching} order by id desc limit $limit`
})
export const countNotifications = statement({
  name: 'notifications.count_messages',
  slow: true,
  takes: filters,
  gives: { total: 'int4' },
  text: countUpTo(`notifications.messages where ${matching}`)
})
export const listNotificationsOfUser = statement({
  name: 'notifications.list_own_messages',
  takes: { customer_id: 'uuid', after: 'uuid', limit: 'int8' },
  gives: listed,
  text: `
    select ${columns} from notifications.messages
    where customer_id = $customer_id and id < $after order by id desc limit $limit`
})
export const countNotificationsOfUser = statement({
  name: 'notifications.count_own_messages',
  takes: { customer_id: 'uuid' },
  gives: { total: 'int4' },
  text: countUpTo('notifications.messages where customer_id = $customer_id')
})
export const findNotification = statement({
  name: 'notifications.find_message',
  takes: { id: 'uuid' },
  gives: { ...listed, recipient_name: 'text?', data: json<Readonly<Record<string, unknown>>>() },
  text: `
    select ${columns}, recipient_name, data::jsonb as data from notifications.messages where id = $id`
})
export const lockNotification = statement({
  name: 'notifications.lock_message',
  takes: { id: 'uuid' },
  gives: { status: oneOf<NotificationStatus>(), turn: 'int4' },
  text: 'select status, turn from notifications.messages where id = $id for update'
})
/** Resets a message to the state and the retry period of a new one. */
export const retryNotification = statement({
  name: 'notifications.retry_message',
  takes: { id: 'uuid', seconds: 'float8' },
  text: `
    update notifications.messages set
      status = 'pending', unsent_status = 'pending', turn = turn + 1, attempts = 0, settled_at = null, due_at = now(),
      gives_up_at = now() + make_interval(secs => $seconds)
    where id = $id`
})
/** The new turn makes queued jobs of the message do nothing. */
export const cancelNotification = statement({
  name: 'notifications.cancel_message',
  takes: { id: 'uuid' },
  text: `
    update notifications.messages set status = 'canceled', unsent_status = 'canceled', turn = turn + 1, settled_at = now()
    where id = $id and status = 'pending'`
})
