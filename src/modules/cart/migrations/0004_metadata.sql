-- Data that the owner of a cart stores with it.
alter table cart.carts add column metadata jsonb not null default '{}'
  constraint carts_metadata check (metadata = '{}' or (
    jsonb_array_length(jsonb_path_query_array(metadata, '$.keyvalue()')) <= 50 and octet_length(metadata::text) <= 16384
  ));
