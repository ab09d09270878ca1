-- Voided events are wrong and do not count. All events with the same carrier id are voided together.
alter table shipping.events
  add column voided_at timestamptz,
  -- The administrator who voided it, and why.
  add column voided_by uuid,
  add column void_reason text;
