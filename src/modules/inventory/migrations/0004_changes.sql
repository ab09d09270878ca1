-- Of which variants something else can be bought since a transaction: processes ask for what came after the snapshot that they
-- saw last, so they neither miss anything nor read again what is as it was. Forgotten after ten minutes.
create table inventory.changes (
  xid xid8 not null default pg_current_xact_id(),
  variant_ids uuid[] not null,
  at timestamptz not null default now()
);
create index changes_xid on inventory.changes (xid);
