-- Administrators list payments by status. Few payments have a status other than succeeded.
create index payments_not_succeeded on payments.payments (status, id) where status <> 'succeeded';
