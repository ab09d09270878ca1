-- For the search of users by prefix of address or name, and for counts by day of registration.
create index users_email_search on auth.users (lower(email) text_pattern_ops);
create index users_name_search on auth.users (lower(name) text_pattern_ops) where name is not null;
create index users_created_at on auth.users (created_at);
