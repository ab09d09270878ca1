-- The last seven characters of a hash find it. A whole hash makes each entry 48 bytes longer.
drop index payments.payments_network;
create index payments_network on payments.payments (right(network, 7)) where network is not null;
alter table payments.payments drop constraint payments_object;
create unique index payments_object on payments.payments (provider, object_id) where object_id is not null;

-- Few operations are open, and an order has few payments: `operations_due` and `operations_payment_id` find them.
drop index payments.operations_open;
drop index payments.operations_open_of_order;

-- Nearly all events are applied. Those that are received are in `events_due`.
drop index payments.events_state;
create index events_state on payments.events (state, id) where state in ('ignored', 'quarantined', 'discarded');
alter table payments.events add constraint events_checked check ((state = 'received') = (next_check_at is not null)) not valid;
