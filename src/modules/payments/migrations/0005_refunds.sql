-- A callback may tell of a refund before its answer does: which of our operations it is of tells that it is the same one.
alter table payments.facts add column operation_id uuid;
