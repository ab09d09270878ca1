-- What was shipped by mistake is undone: each movement of it is followed by one that says the opposite, under the same operation.
alter table inventory.movements drop constraint movements_kind;
alter table inventory.movements add constraint movements_kind
  check (kind in ('count', 'adjust', 'reserve', 'release', 'ship', 'unship', 'return', 'repair'));
create index movements_shipped on inventory.movements (operation) where kind in ('ship', 'unship');
alter table inventory.requests drop constraint requests_kind;
alter table inventory.requests add constraint requests_kind
  check (kind in ('release', 'ship', 'unship', 'return', 'count', 'adjust'));
