-- A session knows the hashes of its refresh token and of the one before; older ones prove by themselves that they are
-- ours. So a refresh changes one row and leaves nothing behind. Tokens made before carry no session: they end here.
delete from auth.sessions;
drop table auth.refresh_tokens;
alter table auth.sessions
  add column token_hash bytea not null,
  add column previous_hash bytea,
  add column rotated_at timestamptz;
-- For the sweep, which else reads every session.
create index sessions_expires_at on auth.sessions (expires_at);
create index sessions_last_used_at on auth.sessions (last_used_at);
