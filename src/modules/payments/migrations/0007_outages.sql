-- Of one provider after the other: while one is down, what waits for it holds up nothing of the others.
drop index payments.operations_due;
create index operations_due on payments.operations (provider, next_check_at) where settled_at is null;
-- What is open of an order, while very much is.
create index operations_open_of_order on payments.operations (order_id) where settled_at is null;
create index operations_open on payments.operations (id) where settled_at is null;
-- What no provider knows of yet is not asked about.
drop index payments.payments_polls;
create index payments_polls on payments.payments (provider, next_poll_at) where is_open and object_id is not null;
