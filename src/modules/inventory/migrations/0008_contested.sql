-- Units that an unpaid order wants and lacks: another order claimed them first, or paid first. They are no
-- reservation and count at no level. Deleted when the order gets them or is canceled.
create table inventory.contested (
  owner uuid not null,
  item_id uuid not null,
  quantity int not null constraint contested_quantity check (quantity > 0),
  at timestamptz not null default now(),
  constraint contested_pkey primary key (owner, item_id)
);
create index contested_at on inventory.contested (at);   -- leftover rows are deleted after 30 days

-- A paid order takes contested units: free ones, or those of unpaid orders.
alter table inventory.requests drop constraint requests_kind;
alter table inventory.requests add constraint requests_kind
  check (kind in ('release', 'ship', 'unship', 'return', 'count', 'adjust', 'take'));
