-- Data that administrators store with a shipment. Buyers see `metadata`; only administrators see `private_metadata`.
alter table shipping.shipments
  add column metadata jsonb not null default '{}',
  add column private_metadata jsonb not null default '{}',
  add constraint shipments_metadata check (
    (metadata = '{}' or jsonb_array_length(jsonb_path_query_array(metadata, '$.keyvalue()')) <= 50)
    and (private_metadata = '{}' or jsonb_array_length(jsonb_path_query_array(private_metadata, '$.keyvalue()')) <= 50)
  );
create index shipments_by_metadata on shipping.shipments using gin (metadata jsonb_path_ops) where metadata <> '{}';
