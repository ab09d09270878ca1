import { countUpTo } from '../../../platform/postgres/counting.ts'
import { oneOf, statement } from '../../../platform/postgres/statement.ts'
import type { UserRole } from '../users/schema.ts'

const RIGHTS = { role: oneOf<UserRole>(), scopes: 'text[]?' } as const
/** `auth_time`: when the session was opened, in seconds since 1970. */
const LOGIN = { auth_time: 'float8' } as const

// Requires the checked password, and the second factor if the account has one. `for share` waits for a concurrent change of
// either, and then finds no row, so no session is opened with outdated credentials.
export const insertSession = statement({
  name: 'auth.insert_session',
  takes: {
    id: 'uuid',
    userId: 'uuid',
    passwordHash: 'text',
    userAgent: 'text?',
    days: 'int4',
    tokenHash: 'bytea',
    secondFactor: 'bool'
  },
  gives: LOGIN,
  text: `
    insert into auth.sessions (id, user_id, user_agent, expires_at, token_hash, second_factor)
    select $id, id, $userAgent, now() + make_interval(days => $days), $tokenHash, $secondFactor from auth.users
    where id = $userId and password_hash = $passwordHash and disabled_at is null
      and ($secondFactor or second_factor_at is null)
    for share
    returning extract(epoch from created_at)::float8 as auth_time`
})

// Rotates the refresh token on condition that it is still current, so that only one of several callers with
// the same token rotates it.
export const rotateRefreshToken = statement({
  name: 'auth.rotate_refresh_token',
  takes: { id: 'uuid', hash: 'bytea', nextHash: 'bytea', idleDays: 'int4' },
  gives: { user_id: 'uuid', ...RIGHTS, ...LOGIN },
  text: `
    update auth.sessions s set
      token_hash = $nextHash, previous_hash = $hash, rotated_at = now(), last_used_at = now()
    from auth.users u
    where s.id = $id and s.token_hash = $hash and u.id = s.user_id and u.disabled_at is null
      and s.expires_at > now() and s.last_used_at > now() - make_interval(days => $idleDays)
    returning s.user_id, u.role, u.scopes, extract(epoch from s.created_at)::float8 as auth_time`
})

/** Hashes of a session's refresh tokens; `is_recent`: whether the last rotation is within the grace period. */
export const findRefreshTokensOfSession = statement({
  name: 'auth.find_rotation',
  takes: { id: 'uuid', graceSeconds: 'float8', idleDays: 'int4' },
  gives: {
    user_id: 'uuid',
    ...RIGHTS,
    ...LOGIN,
    token_hash: 'bytea',
    previous_hash: 'bytea?',
    is_recent: 'bool'
  },
  text: `
    select s.user_id, u.role, u.scopes, extract(epoch from s.created_at)::float8 as auth_time, s.token_hash, s.previous_hash,
      coalesce(s.rotated_at > now() - make_interval(secs => $graceSeconds), false) as is_recent
    from auth.sessions s join auth.users u on u.id = s.user_id
    where s.id = $id and u.disabled_at is null
      and s.expires_at > now() and s.last_used_at > now() - make_interval(days => $idleDays)`
})

/** Marks the session that confirmed a second factor as having used it. */
export const markSessionSecondFactorUsed = statement({
  name: 'auth.mark_second_factor',
  takes: { id: 'uuid' },
  text: 'update auth.sessions set second_factor = true where id = $id'
})
export const clearSessionSecondFactorMarks = statement({
  name: 'auth.unmark_second_factors',
  takes: { userId: 'uuid' },
  text: 'update auth.sessions set second_factor = false where user_id = $userId'
})

/** Returns the current permissions of a session's user, and how the session was opened. No row when it has ended. */
export const findLiveSession = statement({
  name: 'auth.find_live_session',
  takes: { id: 'uuid', userId: 'uuid' },
  gives: { ...RIGHTS, ...LOGIN, second_factor: 'bool' },
  text: `
    select u.role, u.scopes, extract(epoch from s.created_at)::float8 as auth_time, s.second_factor
    from auth.sessions s join auth.users u on u.id = s.user_id
    where s.id = $id and s.user_id = $userId and s.expires_at > now() and u.disabled_at is null`
})

export const listSessionsOfUser = statement({
  name: 'auth.list_sessions',
  takes: { userId: 'uuid', sessionId: 'uuid?', after: 'uuid', idleDays: 'int4', limit: 'int8' },
  gives: {
    id: 'uuid',
    user_agent: 'text?',
    created_at: 'timestamptz',
    last_used_at: 'timestamptz',
    expires_at: 'timestamptz',
    current: 'bool'
  },
  text: `
    select id, user_agent, created_at, last_used_at, expires_at, id is not distinct from $sessionId as current
    from auth.sessions
    where user_id = $userId and id < $after
      and expires_at > now() and last_used_at > now() - make_interval(days => $idleDays)
    order by id desc limit $limit`
})
export const countSessionsOfUser = statement({
  name: 'auth.count_sessions',
  takes: { userId: 'uuid', idleDays: 'int4' },
  gives: { total: 'int4' },
  text: countUpTo(`auth.sessions
    where user_id = $userId
      and expires_at > now() and last_used_at > now() - make_interval(days => $idleDays)`)
})

export const deleteSession = statement({
  name: 'auth.delete_session',
  takes: { id: 'uuid', userId: 'uuid' },
  text: 'delete from auth.sessions where id = $id and user_id = $userId'
})

/** Deletes all sessions of a user except one (`null`: all). */
export const deleteOtherSessions = statement({
  name: 'auth.delete_other_sessions',
  takes: { userId: 'uuid', keptId: 'uuid?' },
  text: 'delete from auth.sessions where user_id = $userId and id is distinct from $keptId'
})

// Each condition has its own index: 0.1 ms when none has expired; without them 64 ms at 300,000 sessions (2026-11).
export const deleteExpiredSessions = statement({
  name: 'auth.delete_expired_sessions',
  takes: { idleDays: 'int4' },
  text: `
    with old as (
      select id from auth.sessions where expires_at <= now() limit 500 for update skip locked
    ), idle as (
      select id from auth.sessions where last_used_at <= now() - make_interval(days => $idleDays)
      limit 500 for update skip locked
    )
    delete from auth.sessions where id = any (array(select id from old union select id from idle))`
})
