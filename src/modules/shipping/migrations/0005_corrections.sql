-- What was told of a parcel, and was wrong: it counts no more. Of those that the carrier calls alike all are, or none.
alter table shipping.events
  add column voided_at timestamptz,
  -- Who said so, and why.
  add column voided_by uuid,
  add column void_reason text;
