import { statement } from '../../../platform/postgres/statement.ts'

// One statement uses the token up and sets the password: of any number of tries, one finds it in its place. Whoever has it
// reads the account's address, so that is verified by it too.
export const resetPassword = statement({
  name: 'auth.reset_password',
  takes: { id: 'uuid', hash: 'text' },
  gives: { id: 'uuid' },
  text: `
    with used as (
      delete from auth.one_time_tokens where id = $id and purpose = 'password' and expires_at > now()
      returning user_id, email
    )
    update auth.users u set password_hash = $hash, email_verified_at = coalesce(u.email_verified_at, now())
    from used
    where u.id = used.user_id and u.email = used.email and u.disabled_at is null and u.password_hash is not null
    returning u.id`
})
