-- Payment reference that the customer states: the order number. Null for older accounts, whose payments state the order id.
alter table payments.accounts add column reference text;
