import { oneOf, statement } from '../../../platform/postgres/statement.ts'
import type { OneTimeTokenPurpose } from './tokens.ts'

/** Replaces the previous token of this purpose. Changes nothing when the user does not exist or is disabled. */
export const upsertOneTimeToken = statement({
  name: 'auth.upsert_one_time_token',
  takes: { id: 'uuid', userId: 'uuid', purpose: 'text', email: 'text', seconds: 'float8' },
  text: `
    insert into auth.one_time_tokens (id, user_id, purpose, email, expires_at)
    select $id, id, $purpose, $email, now() + make_interval(secs => $seconds) from auth.users
    where id = $userId and disabled_at is null
    on conflict (user_id, purpose) do update
      set id = excluded.id, email = excluded.email, expires_at = excluded.expires_at`
})
export const findOneTimeTokenById = statement({
  name: 'auth.find_one_time_token',
  takes: { id: 'uuid' },
  gives: {
    user_id: 'uuid',
    purpose: oneOf<OneTimeTokenPurpose>(),
    email: 'text',
    expires_at: 'timestamptz',
    is_present: 'bool'
  },
  text: `
    select t.user_id, t.purpose, t.email, t.expires_at, t.email is not distinct from u.email as is_present
    from auth.one_time_tokens t join auth.users u on u.id = t.user_id
    where t.id = $id and t.expires_at > now() and u.disabled_at is null`
})
/** Returns the e-mail address of the user's valid one-time token of this purpose. */
export const findEmailOfOneTimeToken = statement({
  name: 'auth.find_one_time_token_of_user',
  takes: { userId: 'uuid', purpose: 'text' },
  gives: { email: 'text' },
  text: `
    select email from auth.one_time_tokens
    where user_id = $userId and purpose = $purpose and expires_at > now()`
})
export const deleteUserOneTimeTokenOfPurpose = statement({
  name: 'auth.delete_one_time_token_of_user',
  takes: { userId: 'uuid', purpose: 'text' },
  text: 'delete from auth.one_time_tokens where user_id = $userId and purpose = $purpose'
})
/** Deletes tokens on a password change, because the old password may have leaked. Keeps the one that verifies the current address. */
export const deleteOneTimeTokensAfterPasswordChange = statement({
  name: 'auth.delete_one_time_tokens_of_old_password',
  takes: { userId: 'uuid' },
  text: `
    delete from auth.one_time_tokens t using auth.users u
    where u.id = $userId and t.user_id = u.id and (t.purpose = 'password' or t.email is distinct from u.email)`
})
export const deleteExpiredOneTimeTokens = statement({
  name: 'auth.delete_expired_one_time_tokens',
  text: `
    delete from auth.one_time_tokens where id in
      (select id from auth.one_time_tokens where expires_at <= now() limit 1000 for update skip locked)`
})
