-- A session stores the hashes of its refresh token and the previous one. Older tokens are recognized by their MAC, so a
-- refresh updates one row and adds none. Earlier tokens contain no session id, so their sessions end here.
delete from auth.sessions;
drop table auth.refresh_tokens;
alter table auth.sessions
  add column token_hash bytea not null,
  add column previous_hash bytea,
  add column rotated_at timestamptz;
-- For the deletion of expired sessions.
create index sessions_expires_at on auth.sessions (expires_at);
create index sessions_last_used_at on auth.sessions (last_used_at);
