-- A message is written twice: when it is queued, and when it is sent. The columns that the second write changes come last, so
-- PostgreSQL logs only these. `data` is text, which is shorter than the binary format of documents of many small numbers.
-- The id is derived from event, template and recipient and begins with the time, so it needs neither an index of the
-- origin nor one of the time. Sent messages, which are nearly all, are not in the index of the status.
create table notifications.new_messages (
  -- Derived from event, template and recipient, so that an event that is handled again queues no second mail.
  id uuid not null,
  created_at timestamptz not null default now(),
  -- No retry after this time.
  gives_up_at timestamptz not null,
  -- Null for guests and staff.
  customer_id uuid,
  template text not null,
  channel text not null constraint messages_channel check (channel in ('email', 'log')),
  locale text not null,
  -- Null: erased.
  recipient text,
  recipient_name text,
  data json not null,
  -- Time of the next attempt while the message is pending.
  due_at timestamptz not null default now(),
  -- Number of the next attempt. A job with another number does nothing.
  turn int not null default 0,
  attempts int not null default 0,
  status text not null constraint messages_status
    check (status in ('pending', 'sent', 'dead', 'canceled', 'suppressed', 'skipped')),
  settled_at timestamptz,
  error text,
  constraint messages_settled check ((status = 'pending') = (settled_at is null))
);
insert into notifications.new_messages (
  id, created_at, gives_up_at, customer_id, template, channel, locale, recipient, recipient_name, data, due_at, turn, attempts,
  status, settled_at, error)
select id, created_at, gives_up_at, customer_id, template, channel, locale, recipient, recipient_name, data::json, due_at, turn,
  attempts, status, settled_at, error
from notifications.messages order by id;
drop table notifications.messages;
alter table notifications.new_messages rename to messages;
alter table notifications.messages add constraint messages_pkey primary key (id);
create index messages_customer on notifications.messages (customer_id, id) where customer_id is not null;
create index messages_recipient on notifications.messages (recipient, id) where recipient is not null;
create index messages_not_sent on notifications.messages (status, id) where status <> 'sent';
