-- When somebody who came back from paying had its provider asked last.
alter table payments.payments add column inquired_at timestamptz;
