-- Movements that are past the retention are summed: the last of them becomes the balance, the first movement of its level.
-- Its deltas are the sums of all movements until then.
alter table inventory.movements drop constraint movements_kind;
alter table inventory.movements add constraint movements_kind
  check (kind in ('balance', 'count', 'adjust', 'reserve', 'release', 'ship', 'unship', 'return', 'repair'));
alter table inventory.movements add constraint movements_balance
  check (kind <> 'balance' or (on_hand_delta = on_hand_after and reserved_delta = reserved_after));
