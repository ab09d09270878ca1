-- A voided parcel was recorded as shipped by mistake. Its contents are unshipped again.
alter table shipping.shipments
  add column voided_at timestamptz,
  -- The administrator who voided it, and why.
  add column voided_by uuid,
  add column void_reason text,
  drop constraint shipments_status;
alter table shipping.shipments
  add constraint shipments_status check (status in ('pending', 'in_transit', 'delivered', 'returned', 'voided')),
  add constraint shipments_voided check ((status = 'voided') = (voided_at is not null) and (voided_at is null or sent_at is not null));
