-- Callbacks can be lost, so open payments are polled with growing pauses.
alter table payments.payments
  add column polls int not null default 0,
  add column next_poll_at timestamptz not null default now() + interval '1 minute';
create index payments_polls on payments.payments (provider, next_poll_at) where is_open;
