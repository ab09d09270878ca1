-- A parcel of which it was said by mistake that it had left: it counts no more.
alter table orders.shipments
  add column voided_at timestamptz,
  -- Who said so, and why.
  add column voided_by uuid,
  add column void_reason text;
