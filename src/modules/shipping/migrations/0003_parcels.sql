-- A row without `sent_at` is what is still to be sent of a group, and goes when nothing is left of it; any other one is a parcel.
alter table shipping.shipments
  alter column service drop not null,
  add column sent_at timestamptz,
  add column lines jsonb not null default '[]',
  -- Of the token that shows a guest's order; null: nobody may see it any more.
  add column token_version int default 1,
  -- The code of a carrier that the shop knows.
  add column carrier_code text,
  -- The number without what makes no difference.
  add column tracking_key text,
  add column version int not null default 1,
  add constraint shipments_carrier check (carrier_code is null or carrier is not null),
  add constraint shipments_number check ((tracking_number is null) = (tracking_key is null));
create index shipments_tracking on shipping.shipments (tracking_key) where tracking_key is not null;

-- What is told of a parcel on its way. Nothing of it is ever changed, but that it is emptied of words when somebody is forgotten.
create table shipping.events (
  id uuid not null constraint events_pkey primary key,
  shipment_id uuid not null constraint events_shipment references shipping.shipments (id),
  -- The carrier's.
  event_id text,
  status text not null constraint events_status check (status in ('pending', 'in_transit', 'delivered', 'returned')),
  occurred_at timestamptz not null,
  description text,
  location text,
  estimated_delivery date,
  -- Of all that it says: what says the same is the same.
  digest text not null,
  -- Who told it.
  actor uuid,
  told_at timestamptz not null default now(),
  constraint events_once unique (shipment_id, digest)
);
