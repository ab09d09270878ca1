-- Data that clients and administrators store with an order. Only administrators see `private_metadata`.
alter table orders.orders
  add column metadata jsonb not null default '{}',
  add column private_metadata jsonb not null default '{}',
  add constraint orders_metadata check (
    (metadata = '{}' or jsonb_array_length(jsonb_path_query_array(metadata, '$.keyvalue()')) <= 50)
    and (private_metadata = '{}' or jsonb_array_length(jsonb_path_query_array(private_metadata, '$.keyvalue()')) <= 50)
  );
-- Administrators filter orders by metadata. Orders without it cost nothing.
create index orders_by_metadata on orders.orders using gin (metadata jsonb_path_ops) where metadata <> '{}';
