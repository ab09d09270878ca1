-- What an administrator may look after: names of modules; null is all of them.
alter table auth.users
  add column scopes text[],
  add constraint users_scopes check (scopes is null or role = 'admin');
