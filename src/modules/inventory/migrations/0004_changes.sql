-- Variants whose availability a transaction changed. Processes read the rows after the snapshot that they
-- saw last, so they miss nothing. Deleted after ten minutes.
create table inventory.changes (
  xid xid8 not null default pg_current_xact_id(),
  variant_ids uuid[] not null,
  at timestamptz not null default now()
);
create index changes_xid on inventory.changes (xid);
