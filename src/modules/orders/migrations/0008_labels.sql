-- Earlier labels of a shipment: carrier, tracking_number, actor, until.
alter table orders.shipments add column former jsonb not null default '[]';
