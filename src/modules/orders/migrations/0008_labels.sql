-- What stood on a parcel before it was corrected: carrier, tracking_number, actor, until.
alter table orders.shipments add column former jsonb not null default '[]';
