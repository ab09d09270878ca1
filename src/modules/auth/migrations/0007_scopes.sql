-- Modules that an administrator may manage; null: all.
alter table auth.users
  add column scopes text[],
  add constraint users_scopes check (scopes is null or role = 'admin');
