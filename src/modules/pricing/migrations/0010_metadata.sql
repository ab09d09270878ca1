-- Data that administrators store with price lists and promotions. Only they see `private_metadata`.
alter table pricing.price_lists
  add column metadata jsonb not null default '{}',
  add column private_metadata jsonb not null default '{}',
  add constraint price_lists_metadata check (
    (metadata = '{}' or jsonb_array_length(jsonb_path_query_array(metadata, '$.keyvalue()')) <= 50)
    and (private_metadata = '{}' or jsonb_array_length(jsonb_path_query_array(private_metadata, '$.keyvalue()')) <= 50)
  );
alter table pricing.promotions
  add column metadata jsonb not null default '{}',
  add column private_metadata jsonb not null default '{}',
  add constraint promotions_metadata check (
    (metadata = '{}' or jsonb_array_length(jsonb_path_query_array(metadata, '$.keyvalue()')) <= 50)
    and (private_metadata = '{}' or jsonb_array_length(jsonb_path_query_array(private_metadata, '$.keyvalue()')) <= 50)
  );
create index promotions_by_metadata on pricing.promotions using gin (metadata jsonb_path_ops) where metadata <> '{}';
