import { statement } from '../../../platform/postgres/statement.ts'

// One statement consumes the token and sets the password, so that only one of several concurrent requests succeeds. The
// token was mailed to the account's address, so it also verifies the address.
export const resetPassword = statement({
  name: 'auth.reset_password',
  takes: { id: 'uuid', hash: 'text' },
  gives: { id: 'uuid' },
  text: `
    with used as (
      delete from auth.one_time_tokens where id = $id and purpose = 'password' and expires_at > now()
      returning user_id, email
    )
    update auth.users u set password_hash = $hash, email_verified_at = coalesce(u.email_verified_at, now()),
      updated_at = now()
    from used
    where u.id = used.user_id and u.email = used.email and u.disabled_at is null and u.password_hash is not null
    returning u.id`
})
