-- Administrators look for people by the beginning of an address or a name, and count who came when.
create index users_email_search on auth.users (lower(email) text_pattern_ops);
create index users_name_search on auth.users (lower(name) text_pattern_ops) where name is not null;
create index users_created_at on auth.users (created_at);
