-- The network that began a payment, as a keyed hash: failed attempts are counted by it. Erased after a day.
alter table payments.payments add column network text;
create index payments_network on payments.payments (network) where network is not null;
