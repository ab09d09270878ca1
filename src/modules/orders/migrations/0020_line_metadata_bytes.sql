-- A line has no more metadata than its cart or checkout may have in all.
alter table orders.lines
  drop constraint lines_metadata,
  add constraint lines_metadata check (
    jsonb_array_length(jsonb_path_query_array(metadata, '$.keyvalue()')) between 1 and 10
    and octet_length(metadata::text) <= 16384
  );
