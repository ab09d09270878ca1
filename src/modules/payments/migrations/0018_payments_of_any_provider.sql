-- Finds the payments of every provider. Manual payments have no object at a provider, so nothing looks for them by its id.
drop index payments.payments_provider;
create index payments_provider on payments.payments (provider, id);
drop index payments.payments_object;
create unique index payments_object on payments.payments (provider, object_id)
  where object_id is not null and provider <> 'manual';
