-- Administrators list payments by status. All but the succeeded ones are few.
create index payments_not_succeeded on payments.payments (status, id) where status <> 'succeeded';
