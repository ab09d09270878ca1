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

-- Deletes the batches whose events are older than a time. The last batch stays, because the next one begins where it ends.
create function cartwright.delete_event_batches(kept_at timestamptz) returns void
language sql
begin atomic
  update cartwright.event_batches set oldest_at = null, newest_at = null
  where first_position = (select max(first_position) from cartwright.event_batches) and oldest_at < kept_at;
  delete from cartwright.event_batches
  where first_position <= (select max(first_position) from cartwright.event_batches where oldest_at < kept_at)
    or first_position < (select max(first_position) from cartwright.event_batches where oldest_at is null);
end;

select cartwright.create_partitions('cartwright.events', 'week', now(), 4);

-- The row of the event in the log. Null for jobs, and for events that are not in the log.
alter table cartwright.jobs add column log_id bigint;
