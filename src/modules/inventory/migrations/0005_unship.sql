-- A voided shipment is undone: each of its movements is reversed by one with the same operation.
alter table inventory.movements drop constraint movements_kind;
alter table inventory.movements add constraint movements_kind
  check (kind in ('count', 'adjust', 'reserve', 'release', 'ship', 'unship', 'return', 'repair'));
create index movements_shipped on inventory.movements (operation) where kind in ('ship', 'unship');
alter table inventory.requests drop constraint requests_kind;
alter table inventory.requests add constraint requests_kind
  check (kind in ('release', 'ship', 'unship', 'return', 'count', 'adjust'));
