-- A shipment that was recorded by mistake and no longer counts.
alter table orders.shipments
  add column voided_at timestamptz,
  -- Who voided it, and why.
  add column voided_by uuid,
  add column void_reason text;
