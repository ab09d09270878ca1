-- The bytes of events, encrypted. The row of an event is updated when it is applied, and would repeat them.
create table payments.event_bytes (
  event_id uuid not null constraint event_bytes_pkey primary key
    constraint event_bytes_event references payments.events on delete cascade,
  raw bytea not null,
  received_at timestamptz not null default now()
);
create index event_bytes_received_at on payments.event_bytes (received_at);
insert into payments.event_bytes (event_id, raw, received_at)
select id, raw, received_at from payments.events where raw is not null;
alter table payments.events drop column raw;
