-- Labels that administrators bought for shipments. The id is the idempotency key at the provider.
create table shipping.labels (
  id uuid not null constraint labels_pkey primary key,
  -- A shipment that is still to be sent, which is deleted with its last line, or the parcel that was sent with the label.
  shipment_id uuid not null,
  order_id uuid not null,
  provider text not null,
  -- Code of the service at the provider. Null: the provider chooses.
  service text,
  -- Null: the sum of the items.
  weight_grams int,
  status text not null default 'requested'
    constraint labels_status check (status in ('requested', 'ready', 'failed', 'voiding', 'voided')),
  carrier text,
  tracking_number text,
  -- The normalized tracking number.
  tracking_key text,
  media_type text,
  -- Contains the address, so it is deleted with the personal data of the order, and after some months.
  document bytea constraint labels_document_size check (length(document) <= 5242880),
  -- Why the last attempt failed.
  problem text,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index labels_current on shipping.labels (shipment_id) where status in ('requested', 'ready');
create index labels_shipment_id on shipping.labels (shipment_id, created_at, id);
create index labels_order_id on shipping.labels (order_id);
create index labels_documents on shipping.labels (created_at) where document is not null;
