-- Data that customers store with their account and addresses. Only administrators see `private_metadata`.
alter table auth.users
  add column metadata jsonb not null default '{}',
  add column private_metadata jsonb not null default '{}',
  add constraint users_metadata check (
    (metadata = '{}' or (jsonb_array_length(jsonb_path_query_array(metadata, '$.keyvalue()')) <= 50
      and octet_length(metadata::text) <= 16384))
    and (private_metadata = '{}' or jsonb_array_length(jsonb_path_query_array(private_metadata, '$.keyvalue()')) <= 50)
  );
alter table auth.addresses
  add column metadata jsonb not null default '{}',
  add constraint addresses_metadata check (metadata = '{}' or (
    jsonb_array_length(jsonb_path_query_array(metadata, '$.keyvalue()')) <= 50 and octet_length(metadata::text) <= 16384
  ));
-- Administrators filter users by metadata. Users without it cost nothing.
create index users_by_metadata on auth.users using gin (metadata jsonb_path_ops) where metadata <> '{}';
