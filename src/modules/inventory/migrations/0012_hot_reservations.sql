-- No index depends on the state, so an update that confirms a reservation touches none (HOT). Free space on each page takes the new
-- version of the row. Held reservations have an expiry, closed ones a time; claimed and confirmed ones have neither.
drop index inventory.reservations_taken;
create index reservations_taken on inventory.reservations (item_id, location_id) where expires_at is null and closed_at is null;
drop index inventory.reservations_held;
create index reservations_held on inventory.reservations (expires_at) where expires_at is not null;
drop index inventory.reservations_closed;
create index reservations_closed on inventory.reservations (closed_at) where closed_at is not null;
alter table inventory.reservations set (fillfactor = 80);
