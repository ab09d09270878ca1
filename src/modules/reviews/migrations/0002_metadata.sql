-- Data that administrators store with a review. Only they see it: the author does not.
alter table reviews.reviews
  add column metadata jsonb not null default '{}',
  add column private_metadata jsonb not null default '{}',
  add constraint reviews_metadata check (
    (metadata = '{}' or jsonb_array_length(jsonb_path_query_array(metadata, '$.keyvalue()')) <= 50)
    and (private_metadata = '{}' or jsonb_array_length(jsonb_path_query_array(private_metadata, '$.keyvalue()')) <= 50)
  );
create index reviews_by_metadata on reviews.reviews using gin (metadata jsonb_path_ops) where metadata <> '{}';
