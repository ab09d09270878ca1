-- When the personal data of the shipment was erased. A shipped parcel has a token version until then.
alter table shipping.shipments add column erased_at timestamptz;
update shipping.shipments set erased_at = updated_at where sent_at is not null and token_version is null;
