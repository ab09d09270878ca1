-- When a level last changed. Systems poll for changed levels, oldest change first. A change within a second after an earlier
-- one keeps its time, so that a level that changes often is updated without its indexes.
alter table inventory.levels add column updated_at timestamptz not null default now();
create index levels_updated on inventory.levels (updated_at, item_id, location_id);
