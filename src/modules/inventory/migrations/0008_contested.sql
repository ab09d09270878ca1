-- Units that an unpaid order wants and does not have: another order claimed them before, or took them by paying first. They are no
-- reservation and count for no level. Deleted when the order gets them or is canceled.
create table inventory.contested (
  owner uuid not null,
  item_id uuid not null,
  quantity int not null constraint contested_quantity check (quantity > 0),
  at timestamptz not null default now(),
  constraint contested_pkey primary key (owner, item_id)
);
create index contested_at on inventory.contested (at);   -- rows that were left over are deleted after 30 days

-- A paid order takes units that it contested: free ones, or those of unpaid orders.
alter table inventory.requests drop constraint requests_kind;
alter table inventory.requests add constraint requests_kind
  check (kind in ('release', 'ship', 'unship', 'return', 'count', 'adjust', 'take'));
