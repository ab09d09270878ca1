-- Finds the payments of a provider that has few. Manual payments get no entry, so an order without a provider writes nothing more.
create index payments_provider on payments.payments (provider, id) where provider <> 'manual';
