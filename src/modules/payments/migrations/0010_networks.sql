-- Keyed hash of the client's network, by which failed attempts are counted. Erased after a day.
alter table payments.payments add column network text;
create index payments_network on payments.payments (network) where network is not null;
