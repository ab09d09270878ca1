-- Data that administrators store with products, variants and categories. Only they see `private_metadata`.
alter table catalog.products
  add column metadata jsonb not null default '{}',
  add column private_metadata jsonb not null default '{}',
  add constraint products_metadata check (
    (metadata = '{}' or jsonb_array_length(jsonb_path_query_array(metadata, '$.keyvalue()')) <= 50)
    and (private_metadata = '{}' or jsonb_array_length(jsonb_path_query_array(private_metadata, '$.keyvalue()')) <= 50)
  );
alter table catalog.variants
  add column metadata jsonb not null default '{}',
  add column private_metadata jsonb not null default '{}',
  add constraint variants_metadata check (
    (metadata = '{}' or jsonb_array_length(jsonb_path_query_array(metadata, '$.keyvalue()')) <= 50)
    and (private_metadata = '{}' or jsonb_array_length(jsonb_path_query_array(private_metadata, '$.keyvalue()')) <= 50)
  );
alter table catalog.categories
  add column metadata jsonb not null default '{}',
  add column private_metadata jsonb not null default '{}',
  add constraint categories_metadata check (
    (metadata = '{}' or jsonb_array_length(jsonb_path_query_array(metadata, '$.keyvalue()')) <= 50)
    and (private_metadata = '{}' or jsonb_array_length(jsonb_path_query_array(private_metadata, '$.keyvalue()')) <= 50)
  );
-- Administrators filter products by metadata. Products without it cost nothing.
create index products_by_metadata on catalog.products using gin (metadata jsonb_path_ops) where metadata <> '{}';
