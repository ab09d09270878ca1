-- The event log: one row for each event that webhooks may send, also when no module subscribes to it.
create sequence cartwright.event_ids;
create table cartwright.events (
  -- Drawn with the commit, while the transaction locks the subject, so the ids of one subject follow its order. The
  -- sequence makes it unique, because a constraint on a partitioned table would have to contain `occurred_at`.
  id bigint not null,
  -- When the transaction began, plus a millisecond for each earlier event of the transaction.
  occurred_at timestamptz not null,
  -- The id that subscribers and webhooks get.
  event_id uuid not null,
  -- What the event is about.
  subject uuid not null,
  -- Version of the payload's format.
  payload_version int not null,
  -- Version of the subject after the change. Null: the subject has no version, or was deleted.
  subject_version int,
  name text collate "C" not null,
  payload jsonb not null
) partition by range (occurred_at);
alter sequence cartwright.event_ids owned by cartwright.events.id;
create index events_id on cartwright.events (id);
-- Takes events of a week whose partition is missing, so that no insert fails.
create table cartwright.events_default partition of cartwright.events default;

-- The positions of events, one row for each batch that was given positions. The primary key makes positions unique: a batch
-- begins where the one before it ends, so of two processes that extend the log simultaneously only one succeeds.
create table cartwright.event_batches (
  -- Position of the first id; that of each other id follows from its index.
  first_position bigint not null constraint event_batches_pkey primary key,
  ids bigint[] not null constraint event_batches_ids check (cardinality(ids) > 0),
  -- Every id up to this one has a position, or is in `skipped`, or belongs to a transaction that was rolled back.
  last_id bigint not null,
  -- First and last id of each range whose transaction may still commit. Such an event gets a later position.
  skipped_ids bigint[] not null,
  -- Times of the oldest and the newest of its events. Null when these events were dropped.
  oldest_at timestamptz,
  newest_at timestamptz
);
-- Finds the batch of an event, at a hundredth of the log that a B-tree writes.
create index event_batches_last_id on cartwright.event_batches using brin (last_id) with (pages_per_range = 16);

-- Creates the partitions of the weeks (UTC) from one time to another that are missing, and moves their events out of the
-- default partition. Returns how many it created.
create function cartwright.create_event_partitions(from_at timestamptz, to_at timestamptz) returns int
language plpgsql as $$
declare
  week timestamp;
  partition text;
  created int := 0;
begin
  perform pg_advisory_xact_lock(hashtextextended('cartwright.event_partitions', 0));
  for week in select generate_series(
    date_trunc('week', from_at at time zone 'UTC'), date_trunc('week', to_at at time zone 'UTC'), '7 days')
  loop
    partition := to_char(week, '"events_"IYYY"w"IW');
    continue when to_regclass('cartwright.' || partition) is not null;
    execute format('create table cartwright.%I (like cartwright.events including defaults including indexes)', partition);
    execute format(
      'with moved as (
         delete from cartwright.events_default where occurred_at >= %2$L and occurred_at < %3$L returning *
       ) insert into cartwright.%1$I select * from moved',
      partition, week at time zone 'UTC', (week + interval '7 days') at time zone 'UTC');
    execute format(
      'alter table cartwright.events attach partition cartwright.%I for values from (%L) to (%L)',
      partition, week at time zone 'UTC', (week + interval '7 days') at time zone 'UTC');
    created := created + 1;
  end loop;
  return created;
end $$;

-- Drops the partitions whose weeks ended before a time, and the batches of their events. The last batch stays, because the
-- next one begins where it ends. Returns how many partitions it dropped.
create function cartwright.drop_event_partitions(before timestamptz) returns int
language plpgsql as $$
declare
  partition text;
  dropped int := 0;
  -- The first time that is kept.
  kept_at timestamptz := date_trunc('week', before, 'UTC');
begin
  perform pg_advisory_xact_lock(hashtextextended('cartwright.event_partitions', 0));
  for partition in
    select relname from pg_inherits join pg_class on pg_class.oid = inhrelid
    where inhparent = 'cartwright.events'::regclass and relname ~ '^events_\d{4}w\d{2}$'
      and to_date(substr(relname, 8), 'IYYY"w"IW') < (kept_at at time zone 'UTC')::date
  loop
    execute format('alter table cartwright.events detach partition cartwright.%I', partition);
    execute format('drop table cartwright.%I', partition);
    dropped := dropped + 1;
  end loop;
  delete from cartwright.events_default where occurred_at < kept_at;
  update cartwright.event_batches set oldest_at = null, newest_at = null
  where first_position = (select max(first_position) from cartwright.event_batches) and oldest_at < kept_at;
  delete from cartwright.event_batches
  where first_position <= (select max(first_position) from cartwright.event_batches where oldest_at < kept_at)
    or first_position < (select max(first_position) from cartwright.event_batches where oldest_at is null);
  return dropped;
end $$;

select cartwright.create_event_partitions(now(), now() + interval '4 weeks');

-- The row of the event in the log. Null for jobs, and for events that are not in the log.
alter table cartwright.jobs add column log_id bigint;
