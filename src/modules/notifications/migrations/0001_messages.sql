create schema notifications;

-- One mail for each event, template and recipient. Rows hold no secret: links with tokens are created on sending.
create table notifications.messages (
  id uuid not null constraint messages_pkey primary key,
  -- Derived from event, template and recipient, so that an event that is handled again queues no second mail.
  origin uuid not null constraint messages_origin unique,
  template text not null,
  channel text not null constraint messages_channel check (channel in ('email', 'log')),
  status text not null constraint messages_status
    check (status in ('pending', 'sent', 'dead', 'canceled', 'suppressed', 'skipped')),
  -- Null for guests and staff.
  customer_id uuid,
  locale text not null,
  -- Null: erased.
  recipient text,
  recipient_name text,
  data jsonb not null,
  -- Number of the next attempt. A job with another number does nothing.
  turn int not null default 0,
  attempts int not null default 0,
  error text,
  -- Time of the next attempt while the message is pending.
  due_at timestamptz not null default now(),
  -- No retry after this time.
  gives_up_at timestamptz not null,
  created_at timestamptz not null default now(),
  settled_at timestamptz,
  constraint messages_settled check ((status = 'pending') = (settled_at is null))
);
create index messages_customer on notifications.messages (customer_id, id) where customer_id is not null;
create index messages_status_id on notifications.messages (status, id);
create index messages_recipient on notifications.messages (recipient, id) where recipient is not null;
create index messages_created_at on notifications.messages (created_at);

-- Mails of a shop in development, shown at /mails instead of being sent.
create table notifications.mailbox (
  id uuid not null constraint mailbox_pkey primary key,
  message_id text not null,
  template text not null,
  sender text not null,
  recipient text not null,
  subject text not null,
  body_text text not null,
  body_html text not null,
  headers jsonb not null,
  sent_at timestamptz not null default now()
);
