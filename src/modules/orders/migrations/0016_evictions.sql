-- A card order can contest units that unpaid orders claim. Once it is paid, it takes them.
alter table orders.orders
  add column contested_units int not null default 0,   -- units that it did not get when it was created
  add column canceled_for text constraint orders_canceled_for check (canceled_for in ('evicted', 'short'));
  -- evicted: a paid order took its units; short: it was paid and there was nothing left to take. Null: another reason, or not canceled.
