-- A line has an id, so that lines of one variant with different metadata stay apart. Null metadata: none.
alter table cart.items
  add column id uuid not null default gen_random_uuid(),
  add column metadata jsonb constraint items_metadata check (
    jsonb_array_length(jsonb_path_query_array(metadata, '$.keyvalue()')) between 1 and 10
    and octet_length(metadata::text) <= 16384
  ),
  drop constraint items_pkey;
alter table cart.items add constraint items_pkey primary key (cart_id, id);
