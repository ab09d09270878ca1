-- Systems poll for changed payments, oldest change first.
create index payments_updated on payments.payments (updated_at, id);
