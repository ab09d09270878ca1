-- What is held is held for some days: the provider says until when.
alter table payments.facts add column expires_at timestamptz;
alter table payments.payments
  add column authorized_until timestamptz,
  -- Somebody was told that it runs out.
  add column expiry_noted_at timestamptz;
create index payments_expiring on payments.payments (authorized_until) where authorized_until is not null;
