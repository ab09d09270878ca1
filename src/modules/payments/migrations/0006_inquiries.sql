-- When the payment was last retrieved for a buyer who returned from the provider.
alter table payments.payments add column inquired_at timestamptz;
