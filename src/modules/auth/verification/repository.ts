import { statement } from '../../../platform/postgres/statement.ts'

// One statement consumes the token and applies it, so that only one of several concurrent requests succeeds.
export const verifyEmail = statement({
  name: 'auth.verify_email',
  takes: { id: 'uuid' },
  gives: { id: 'uuid', is_changed: 'bool' },
  text: `
    with used as (
      delete from auth.one_time_tokens where id = $id and purpose = 'email' and expires_at > now()
      returning user_id, email
    )
    update auth.users u set
      email = used.email,
      email_verified_at = now(),
      updated_at = now(),
      former_email = case when before.email = used.email then u.former_email else before.email end,
      email_changed_at = case when before.email = used.email then u.email_changed_at else now() end
    from used join auth.users before on before.id = used.user_id
    where u.id = used.user_id and u.disabled_at is null
    returning u.id, before.email is distinct from used.email as is_changed`
})
/** Locks the password that was checked until the transaction ends. Returns no row when it was replaced in the meantime. */
export const lockUserIfPasswordUnchanged = statement({
  name: 'auth.lock_password',
  takes: { userId: 'uuid', hash: 'text' },
  gives: { id: 'uuid' },
  text: 'select id from auth.users where id = $userId and password_hash = $hash for share'
})
/** Removes previous e-mail addresses after `days`, because they are stored only to notify the owner of the change. */
export const clearOldPreviousEmails = statement({
  name: 'auth.delete_former_emails',
  takes: { days: 'int4' },
  text: `
    update auth.users set former_email = null where id in
      (select id from auth.users
       where former_email is not null and email_changed_at <= now() - make_interval(days => $days)
       limit 1000 for update skip locked)`
})
