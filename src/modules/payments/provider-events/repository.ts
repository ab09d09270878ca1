import { countUpTo } from '../../../platform/postgres/counting.ts'
import { oneOf, type RowOf, statement } from '../../../platform/postgres/statement.ts'

export type PaymentProviderEventState = 'received' | 'applied' | 'ignored' | 'quarantined' | 'discarded'
const state = oneOf<PaymentProviderEventState>()
type EventSource = 'callback' | 'answer' | 'poll'
const source = oneOf<EventSource>()

/** Returns no row when the event is stored already. */
export const insertProviderEvent = statement({
  name: 'payments.insert_event',
  takes: {
    id: 'uuid',
    provider: 'text',
    event_id: 'text',
    source,
    type: 'text',
    state,
    reason: 'text?',
    payment_id: 'uuid?',
    raw: 'bytea'
  },
  gives: { id: 'uuid' },
  text: `
    with inserted as (
      insert into payments.events (id, provider, event_id, source, type, state, reason, payment_id, next_check_at)
      values ($id, $provider, $event_id, $source, $type, $state, $reason, $payment_id,
        case when $state::text = 'received' then now() + interval '1 minute' end)
      on conflict (provider, event_id) do nothing
      returning id
    )
    insert into payments.event_bytes (event_id, raw) select id, $raw from inserted
    returning event_id as id`
})
/** Locks an event, so that two workers cannot apply it simultaneously. */
export const lockProviderEvent = statement({
  name: 'payments.lock_event',
  takes: { id: 'uuid' },
  gives: { state, attempts: 'int4' },
  text: 'select state, attempts from payments.events where id = $id for update'
})
export const findProviderEvent = statement({
  name: 'payments.find_event',
  takes: { id: 'uuid' },
  gives: { provider: 'text', source, raw: 'bytea?' },
  text: `
    select provider, source, raw
    from payments.events left join payments.event_bytes on event_bytes.event_id = events.id where id = $id`
})
export const finishProviderEvent = statement({
  name: 'payments.finish_event',
  takes: { id: 'uuid', state, reason: 'text?', payment_id: 'uuid?' },
  text: `
    update payments.events set state = $state, reason = $reason, payment_id = $payment_id, next_check_at = null
    where id = $id`
})
export const retryProviderEventLater = statement({
  name: 'payments.postpone_event',
  takes: { id: 'uuid', reason: 'text', seconds: 'float8' },
  text: `
    update payments.events set
      attempts = attempts + 1, reason = $reason, next_check_at = now() + make_interval(secs => $seconds)
    where id = $id`
})
/** Claims due events: their next check is moved, so that no other worker claims them. */
export const claimDueProviderEvents = statement({
  name: 'payments.claim_due_events',
  takes: { limit: 'int8' },
  gives: { id: 'uuid' },
  text: `
    update payments.events set next_check_at = now() + interval '1 minute'
    where id in (
      select id from payments.events where next_check_at <= now()
      order by next_check_at limit $limit for update skip locked)
    returning id`
})
export const expediteProviderEvents = statement({
  name: 'payments.reschedule_events',
  text: `
    update payments.events set next_check_at = least(next_check_at, now() + make_interval(secs => 20 * random()))
    where next_check_at > now()
      and id in (select id from payments.events where next_check_at > now() for update skip locked)`
})
export const releaseProviderEventFromQuarantine = statement({
  name: 'payments.decide_event',
  takes: { id: 'uuid', state, reason: 'text?' },
  gives: { id: 'uuid' },
  text: `
    update payments.events set state = $state, reason = coalesce($reason, reason), attempts = 0,
      next_check_at = case when $state::text = 'received' then now() end
    where id = $id and state = 'quarantined' and ($state::text <> 'received'
      or exists (select from payments.event_bytes where event_bytes.event_id = $id))
    returning id`
})
const providerEventColumns = {
  id: 'uuid',
  provider: 'text',
  event_id: 'text',
  source,
  type: 'text',
  state,
  reason: 'text?',
  payment_id: 'uuid?',
  attempts: 'int4',
  next_check_at: 'timestamptz?',
  received_at: 'timestamptz'
} as const
/** Received events, and only they, have a next check. Planned with the state, so that each state is found by an index. */
const inState = `state = $state and ($state::text <> 'received' or next_check_at is not null)`
export const listProviderEvents = statement({
  name: 'payments.list_events',
  takes: { state, after: 'uuid', limit: 'int8' },
  gives: providerEventColumns,
  slow: true,
  text: `
    select ${Object.keys(providerEventColumns).join(', ')} from payments.events
    where ${inState} and id > $after order by id limit $limit`
})
export type PaymentProviderEventRow = RowOf<typeof listProviderEvents>
export const countProviderEventsInState = statement({
  name: 'payments.count_events_of',
  takes: { state },
  gives: { total: 'int4' },
  slow: true,
  text: countUpTo(`payments.events where ${inState}`)
})
export const countUnappliedProviderEvents = statement({
  name: 'payments.count_events',
  gives: { state, total: 'int8' },
  text: `
    select state, count(*) as total from payments.events
    where state = 'quarantined' or next_check_at is not null group by state`
})
export const countQuarantinedProviderEvents = statement({
  name: 'payments.count_quarantined',
  gives: { total: 'int8' },
  text: `select count(*) as total from payments.events where state = 'quarantined'`
})
