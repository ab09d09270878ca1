-- A callback can report a refund before the API response does. The operation id shows that both are the same refund.
alter table payments.facts add column operation_id uuid;
