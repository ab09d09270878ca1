-- Lines of one variant with different metadata stay apart. The id is that of the line of the cart or checkout. Orders address their
-- lines by number, so no index is needed. Null metadata: none.
alter table orders.lines
  add column id uuid not null default gen_random_uuid(),
  add column metadata jsonb constraint lines_metadata check (
    jsonb_array_length(jsonb_path_query_array(metadata, '$.keyvalue()')) between 1 and 10
  );
update orders.checkouts set input = jsonb_set(input, '{lines}', (
  select coalesce(jsonb_agg(line || jsonb_build_object('id', gen_random_uuid(), 'metadata', '{}'::jsonb) order by position), '[]')
  from jsonb_array_elements(input->'lines') with ordinality as lines (line, position)
));
