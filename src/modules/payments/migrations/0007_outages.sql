-- Operations are claimed per provider, so that an outage of one does not delay the others.
drop index payments.operations_due;
create index operations_due on payments.operations (provider, next_check_at) where settled_at is null;
-- Finds the open operations of an order, even when many are open.
create index operations_open_of_order on payments.operations (order_id) where settled_at is null;
create index operations_open on payments.operations (id) where settled_at is null;
-- Payments without an object at the provider are not polled.
drop index payments.payments_polls;
create index payments_polls on payments.payments (provider, next_poll_at) where is_open and object_id is not null;
