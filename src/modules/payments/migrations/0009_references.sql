-- What a customer names with a payment: the number of the order. Null for accounts of an older version, whose payments name the id.
alter table payments.accounts add column reference text;
