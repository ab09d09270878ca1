-- Administrators list parcels by carrier: by the code of a configured one, or by the name as entered.
create index shipments_carrier_code on shipping.shipments (carrier_code, created_at, id) where carrier_code is not null;
create index shipments_carrier_name on shipping.shipments (lower(carrier), created_at, id) where carrier is not null;
create statistics shipping.shipments_carriers on lower(carrier) from shipping.shipments;
analyze shipping.shipments;
