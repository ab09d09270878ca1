-- When something that administrators see of a user last changed. Systems poll for changed users, oldest change first.
alter table auth.users add column updated_at timestamptz not null default now();
create index users_updated on auth.users (updated_at, id);
