import { statement } from '../postgres/statement.ts'
import { claimOfNewJobSql, INSERTED_JOB_COLUMNS, leaseOfNewJobSql } from './job-queries.ts'

/**
 * Inserts one event without subscribers into the log, for each caller of a transaction. The condition draws the transaction
 * id before the event id: see `insertEventsAndJobs`.
 */
export const insertUnsubscribedEvent = statement({
  name: 'outbox.insert_event',
  takes: {
    event_id: 'uuid',
    subject: 'uuid',
    payload: 'text',
    name: 'text',
    payload_version: 'int4',
    subject_version: 'int4?'
  },
  gives: { at: 'int8' },
  forEach: true,
  text: `
    with new as materialized (select * from $each where pg_current_xact_id() is not null),
    logged as (
      insert into cartwright.events (id, occurred_at, event_id, subject, payload_version, subject_version, name, payload)
      select nextval('cartwright.event_ids'), now(), event_id, subject, payload_version, subject_version, name, payload::jsonb
      from new
    )
    select at from new`
})
/**
 * Inserts the events of a transaction into the log, and all its jobs. The condition draws the transaction id before the ids
 * of events: so a transaction with a later id cannot hold an earlier event (\`event_log.draw_transaction_id\`).
 */
export const insertEventsAndJobs = statement({
  name: 'outbox.insert_messages',
  takes: {
    subjects: 'uuid[]',
    eventIds: 'uuid[]',
    payloads: 'text[]',
    delays: 'float8[]',
    names: 'text[]',
    payloadVersions: 'int4[]',
    subjectVersions: 'int4[]',
    handlers: 'text[]',
    jobPositions: 'int4[]',
    wantedLeases: 'text[]',
    leaseSeconds: 'float8'
  },
  gives: { ...INSERTED_JOB_COLUMNS, log_id: 'int8?' },
  text: `
    with message as materialized (
      select at - 1 as position, subject, event_id, payload::jsonb as payload, delay, name,
        payload_version, nullif(subject_version, -1) as subject_version,
        now() + make_interval(secs => delay + (at - 1)::float8 / 1000) as since,
        case when name <> '' then nextval('cartwright.event_ids') end as log_id
      from unnest($subjects::uuid[], $eventIds::uuid[], $payloads::text[], $delays::float8[], $names::text[],
          $payloadVersions::int4[], $subjectVersions::int4[])
        with ordinality as message (subject, event_id, payload, delay, name, payload_version, subject_version, at)
      where pg_current_xact_id() is not null
    ), logged as (
      insert into cartwright.events (id, occurred_at, event_id, subject, payload_version, subject_version, name, payload)
      select log_id, since, event_id, subject, payload_version, subject_version, name, payload from message where name <> ''
    )
    insert into cartwright.jobs (handler, subject, event_id, payload, since, log_id, lease, attempts, due_at)
    select job.handler, job.subject, event_id, payload, since, log_id, ${claimOfNewJobSql('delay')}
    from (
      select handler, subject, event_id, payload, since, log_id, delay, wanted_lease, position
      from unnest($handlers::text[], $jobPositions::int4[], $wantedLeases::text[]) as wanted (handler, position, wanted_lease)
        join message using (position)
    ) job
      ${leaseOfNewJobSql}
    order by position
    returning id, handler, event_id, since, lease, log_id`
})
