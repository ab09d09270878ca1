import { statement } from '../../../platform/postgres/statement.ts'

export const insertLoginChallenge = statement({
  name: 'auth.insert_login_challenge',
  takes: { tokenHash: 'bytea', userId: 'uuid', passwordHash: 'text', seconds: 'float8' },
  text: `
    insert into auth.login_challenges (token_hash, user_id, password_hash, expires_at)
    values ($tokenHash, $userId, $passwordHash, now() + make_interval(secs => $seconds))`
})
export const findOpenLoginChallenge = statement({
  name: 'auth.find_login_challenge',
  takes: { tokenHash: 'bytea', triesMax: 'int4' },
  gives: { user_id: 'uuid', password_hash: 'text' },
  text: `
    select user_id, password_hash from auth.login_challenges
    where token_hash = $tokenHash and tries < $triesMax and expires_at > now()`
})
/** Counts a try before the code is checked, so that simultaneous tries cannot exceed the limit. */
export const recordLoginChallengeAttempt = statement({
  name: 'auth.count_challenge_try',
  takes: { tokenHash: 'bytea', triesMax: 'int4' },
  gives: { tries: 'int4' },
  text: `
    update auth.login_challenges set tries = tries + 1
    where token_hash = $tokenHash and tries < $triesMax and expires_at > now()
    returning tries`
})
/** Locks the user of a login challenge. Returns no row when the user was disabled, or changed password or second factor. */
export const lockUserOfLoginChallenge = statement({
  name: 'auth.lock_challenged_user',
  takes: { userId: 'uuid', passwordHash: 'text' },
  gives: { id: 'uuid' },
  text: `
    select id from auth.users
    where id = $userId and password_hash = $passwordHash and disabled_at is null and second_factor_at is not null
    for share`
})
export const deleteLoginChallenge = statement({
  name: 'auth.delete_login_challenge',
  takes: { tokenHash: 'bytea' },
  text: 'delete from auth.login_challenges where token_hash = $tokenHash'
})
export const deleteExpiredLoginChallenges = statement({
  name: 'auth.delete_expired_login_challenges',
  text: `
    delete from auth.login_challenges where token_hash in
      (select token_hash from auth.login_challenges where expires_at <= now() limit 1000 for update skip locked)`
})
