-- The bytes of events, encrypted. The row of an event is updated when it is applied, and would repeat them. It stays for ever, so that
-- a repeated callback is recognized; its bytes are dropped with the month of its id.
create table payments.event_bytes (
  event_id uuid not null constraint event_bytes_pkey primary key,
  raw bytea not null
) partition by range (event_id);
create table payments.event_bytes_default partition of payments.event_bytes default;
select cartwright.create_partitions('payments.event_bytes', 'month', now(), 3);
insert into payments.event_bytes (event_id, raw) select id, raw from payments.events where raw is not null;
alter table payments.events drop column raw;
