-- A row without `sent_at` holds the unshipped lines of a group, and is deleted when none are left. Other rows are parcels.
alter table shipping.shipments
  alter column service drop not null,
  add column sent_at timestamptz,
  add column lines jsonb not null default '[]',
  -- Token version of a guest's order. Null: the personal data was erased, so no buyer has access.
  add column token_version int default 1,
  -- Code of a configured carrier.
  add column carrier_code text,
  -- The normalized tracking number.
  add column tracking_key text,
  add column version int not null default 1,
  add constraint shipments_carrier check (carrier_code is null or carrier is not null),
  add constraint shipments_number check ((tracking_number is null) = (tracking_key is null));
create index shipments_tracking on shipping.shipments (tracking_key) where tracking_key is not null;

-- Tracking events of a parcel. They never change, except that their texts are erased with the customer's personal data.
create table shipping.events (
  id uuid not null constraint events_pkey primary key,
  shipment_id uuid not null constraint events_shipment references shipping.shipments (id),
  -- The id that the carrier gave it.
  event_id text,
  status text not null constraint events_status check (status in ('pending', 'in_transit', 'delivered', 'returned')),
  occurred_at timestamptz not null,
  description text,
  location text,
  estimated_delivery date,
  -- Hash of the content: equal events have equal digests.
  digest text not null,
  -- The user who added it.
  actor uuid,
  told_at timestamptz not null default now(),
  constraint events_once unique (shipment_id, digest)
);
