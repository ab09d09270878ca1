-- Administrators list the movements of all variants, or of one location, newest first.
create index movements_at on inventory.movements (location_id, at, item_id, seq);
