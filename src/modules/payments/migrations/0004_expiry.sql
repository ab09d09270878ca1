-- An authorization expires after some days. The provider states when.
alter table payments.facts add column expires_at timestamptz;
alter table payments.payments
  add column authorized_until timestamptz,
  -- When the coming expiry was reported.
  add column expiry_noted_at timestamptz;
create index payments_expiring on payments.payments (authorized_until) where authorized_until is not null;
