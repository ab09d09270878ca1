import { type RowOf, statement } from '../postgres/statement.ts'

/** The next position, the last id that has one, and the ids before it that were skipped. */
const endOfLogSql = `
    log as (
      select coalesce(first_position + cardinality(ids), 1) as next_position, coalesce(last_id, 0) as last_id,
        coalesce(skipped_ids, '{}') as skipped_ids
      from (values (true)) always left join (
        select first_position, ids, last_id, skipped_ids from cartwright.event_batches
        order by first_position desc limit 1
      ) last_batch on true
    )`

/**
 * Reads the end of the log and the committed events that have no position yet, in one snapshot. `has_ended` says whether
 * all transactions have ended that began before the transaction `witness`.
 */
export const findUnpositionedEventsAndLogEnd = statement({
  name: 'event_log.find_unpositioned',
  takes: { witness: 'text?', limit: 'int8' },
  gives: {
    next_position: 'int8',
    last_id: 'int8',
    skipped_ids: 'int8[]',
    has_ended: 'bool',
    now_seconds: 'float8',
    ids: 'int8[]',
    seconds: 'float8[]'
  },
  text: `
    with ${endOfLogSql}, unpositioned as (
      select late.id, late.occurred_at
      from log, generate_series(1, cardinality(skipped_ids), 2) at, cartwright.events late
      where late.id between skipped_ids[at] and skipped_ids[at + 1]
      union all
      select fresh.id, fresh.occurred_at from log, lateral (
        select id, occurred_at from cartwright.events where id > last_id order by id limit $limit
      ) fresh
    )
    select next_position, last_id, skipped_ids,
      coalesce(pg_snapshot_xmin(pg_current_snapshot()) >= $witness::text::xid8, false) as has_ended,
      extract(epoch from now())::float8 as now_seconds,
      array(select id from unpositioned order by id) as ids,
      array(select extract(epoch from occurred_at)::float8 from unpositioned order by id) as seconds
    from log`
})

/**
 * Gives the next positions to all events after the end of the log, in the snapshot that reads them. Does nothing when an id is
 * missing, or there are more events, and when another process has extended the log meanwhile.
 */
export const appendEventPositions = statement({
  name: 'event_log.append_batch',
  takes: { limit: 'int8' },
  text: `
    with ${endOfLogSql}, fresh as (
      select id, occurred_at from log, lateral (
        select id, occurred_at from cartwright.events where id > last_id order by id limit $limit + 1
      ) following
    ), batch as (
      select array_agg(id order by id) as ids, max(id) as last_id, min(occurred_at) as oldest_at,
        max(occurred_at) as newest_at
      from fresh
    )
    insert into cartwright.event_batches (first_position, ids, last_id, skipped_ids, oldest_at, newest_at)
    select log.next_position, batch.ids, batch.last_id, '{}', batch.oldest_at, batch.newest_at
    from log, batch
    where log.skipped_ids = '{}' and cardinality(batch.ids) <= $limit
      and batch.last_id = log.last_id + cardinality(batch.ids)
    on conflict (first_position) do nothing`
})

/**
 * Reads the age of the oldest event without a position, in seconds. 0: every committed event has one. An event is as old as its
 * transaction.
 */
export const findOldestUnpositionedEventAge = statement({
  name: 'event_log.find_oldest_unpositioned',
  gives: { seconds: 'float8' },
  text: `
    with log as (
      select coalesce(max(last_id), 0) as last_id, coalesce(max(skipped_ids), '{}') as skipped_ids
      from (
        select last_id, skipped_ids from cartwright.event_batches order by first_position desc limit 1
      ) last_batch
    )
    select coalesce(extract(epoch from now() - min(occurred_at)), 0)::float8 as seconds
    from (
      select late.occurred_at
      from log, generate_series(1, cardinality(skipped_ids), 2) at, cartwright.events late
      where late.id between skipped_ids[at] and skipped_ids[at + 1]
      union all
      select occurred_at
      from log, lateral (select occurred_at from cartwright.events where id > last_id order by id limit 1) fresh
    ) unpositioned`
})

/** Draws a transaction id, which is later than that of every transaction so far. */
export const drawTransactionId = statement({
  name: 'event_log.draw_transaction_id',
  gives: { id: 'text' },
  text: 'select pg_current_xact_id()::text as id'
})

/** Gives the next positions to events. Does nothing when another process has extended the log meanwhile. */
export const insertEventPositions = statement({
  name: 'event_log.insert_batch',
  takes: {
    firstPosition: 'int8',
    ids: 'int8[]',
    lastId: 'int8',
    skippedIds: 'int8[]',
    oldestSeconds: 'float8',
    newestSeconds: 'float8'
  },
  text: `
    insert into cartwright.event_batches (first_position, ids, last_id, skipped_ids, oldest_at, newest_at)
    values ($firstPosition, $ids, $lastId, $skippedIds, to_timestamp($oldestSeconds), to_timestamp($newestSeconds))
    on conflict (first_position) do nothing`
})

/**
 * Reads which positions exist, and the ids of those after a position. `oldest` is the first position whose event is kept,
 * `next` the one that the next event gets. The times are text, because a `Date` has no microseconds.
 */
export const findEventLogPositionsAfter = statement({
  name: 'event_log.find_positions',
  takes: { after: 'int8', limit: 'int8' },
  gives: {
    oldest: 'int8',
    next: 'int8',
    ids: 'int8[]',
    oldest_at: 'text?',
    newest_at: 'text?'
  },
  text: `
    with range as (
      select
        coalesce((
          select case when oldest_at is null then first_position + cardinality(ids) else first_position end
          from cartwright.event_batches oldest_batch order by oldest_batch.first_position limit 1
        ), 1) as oldest,
        coalesce((
          select first_position + cardinality(ids) from cartwright.event_batches order by first_position desc limit 1
        ), 1) as next
    ), listed as materialized (
      select batch.first_position + at - 1 as position, listed.id, batch.oldest_at, batch.newest_at
      from cartwright.event_batches batch, unnest(batch.ids) with ordinality as listed (id, at)
      where batch.first_position <= $after::bigint + $limit::bigint
        and batch.first_position >= coalesce((
          select first_position from cartwright.event_batches where first_position <= $after + 1
          order by first_position desc limit 1
        ), 1)
        and batch.first_position + at - 1 > $after and batch.first_position + at - 1 <= $after + $limit
    )
    select oldest, next, array(select id from listed order by position) as ids,
      (select min(oldest_at)::text from listed) as oldest_at, (select max(newest_at)::text from listed) as newest_at
    from range`
})

/** Finds the positions of events by id, in the batches from that of the smallest id on. */
export const findEventLogPositionsByIds = statement({
  name: 'event_log.find_positions_of',
  takes: { ids: 'int8[]', smallestId: 'int8' },
  gives: { id: 'int8', position: 'int8', payload_version: 'int4', subject_version: 'int4?' },
  text: `
    select listed.id, batch.first_position + at - 1 as position, event.payload_version, event.subject_version
    from cartwright.event_batches batch, unnest(batch.ids) with ordinality as listed (id, at), cartwright.events event
    where batch.last_id >= $smallestId and batch.ids && $ids::bigint[] and listed.id = any ($ids::bigint[])
      and event.id = listed.id and event.occurred_at between batch.oldest_at and batch.newest_at`
})

/** Reads events by id. `payload` is null for events of other modules than these; null: all modules. */
export const findLoggedEventsByIds = statement({
  name: 'event_log.find_events',
  takes: { ids: 'int8[]', oldestAt: 'text', newestAt: 'text', modules: 'text[]?' },
  gives: {
    id: 'int8',
    event_id: 'uuid',
    name: 'text',
    subject: 'uuid',
    payload_version: 'int4',
    subject_version: 'int4?',
    occurred_at: 'timestamptz',
    payload: 'jsonb?'
  },
  text: `
    select id, event_id, name, subject, payload_version, subject_version, occurred_at,
      case when $modules::text[] is null or split_part(name, '.', 1) = any ($modules) then payload end as payload
    from cartwright.events
    where id = any ($ids) and occurred_at between $oldestAt::text::timestamptz and $newestAt::text::timestamptz`
})
export type LoggedEventRow = RowOf<typeof findLoggedEventsByIds>

/** Deletes the batches of the weeks that ended before a time. */
export const deleteEventBatches = statement({
  name: 'event_log.delete_batches',
  takes: { keptSince: 'timestamptz' },
  text: `select cartwright.delete_event_batches(date_trunc('week', $keptSince::timestamptz, 'UTC'))`
})
