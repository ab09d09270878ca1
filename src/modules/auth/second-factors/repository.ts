import { statement } from '../../../platform/postgres/statement.ts'

/** Starts an enrolment and replaces an unconfirmed one. Changes nothing if the account is enrolled or has no password. */
export const upsertPendingSecondFactor = statement({
  name: 'auth.upsert_pending_second_factor',
  takes: { userId: 'uuid', sealed: 'bytea' },
  text: `
    insert into auth.second_factors (user_id, sealed)
    select id, $sealed from auth.users
    where id = $userId and second_factor_at is null and password_hash is not null for update
    on conflict (user_id) do update set sealed = excluded.sealed, last_step = 0, created_at = now()`
})
export const findSecondFactor = statement({
  name: 'auth.find_second_factor',
  takes: { userId: 'uuid' },
  gives: { sealed: 'bytea?', enrolled_at: 'timestamptz?', codes_left: 'int4' },
  text: `
    select f.sealed, u.second_factor_at as enrolled_at,
      (select count(*)::int from auth.recovery_codes c where c.user_id = u.id) as codes_left
    from auth.users u left join auth.second_factors f on f.user_id = u.id
    where u.id = $userId`
})
// Updates the user's row, so that a concurrent login without a second factor, which waits for its lock, opens no session.
export const markSecondFactorEnrolled = statement({
  name: 'auth.enrol_second_factor',
  takes: { userId: 'uuid' },
  text: 'update auth.users set second_factor_at = now() where id = $userId and second_factor_at is null'
})
export const lockUserEnrolledInSecondFactor = statement({
  name: 'auth.lock_enrolled_user',
  takes: { userId: 'uuid' },
  gives: { id: 'uuid' },
  text: 'select id from auth.users where id = $userId and second_factor_at is not null for update'
})
/** Marks the account as not enrolled. Changes nothing if it has no second factor. */
export const clearSecondFactorEnrolment = statement({
  name: 'auth.unenrol_second_factor',
  takes: { userId: 'uuid' },
  text: 'update auth.users set second_factor_at = null where id = $userId and second_factor_at is not null'
})
export const deleteSecondFactor = statement({
  name: 'auth.delete_second_factor',
  takes: { userId: 'uuid' },
  text: 'delete from auth.second_factors where user_id = $userId'
})
// Conditional, so that only one of several requests with the same code succeeds. Also stores the secret encrypted again.
export const recordUsedTotpStep = statement({
  name: 'auth.accept_time_step',
  takes: { userId: 'uuid', step: 'int8', sealed: 'bytea' },
  text: `
    update auth.second_factors set last_step = $step, sealed = $sealed
    where user_id = $userId and last_step < $step`
})
export const insertRecoveryCodes = statement({
  name: 'auth.insert_recovery_codes',
  takes: { userId: 'uuid', hashes: 'bytea[]' },
  text: 'insert into auth.recovery_codes (user_id, code_hash) select $userId, unnest($hashes::bytea[])'
})
export const listRecoveryCodes = statement({
  name: 'auth.list_recovery_codes',
  takes: { userId: 'uuid' },
  gives: { code_hash: 'bytea' },
  text: 'select code_hash from auth.recovery_codes where user_id = $userId'
})
export const deleteRecoveryCodes = statement({
  name: 'auth.delete_recovery_codes',
  takes: { userId: 'uuid' },
  text: 'delete from auth.recovery_codes where user_id = $userId'
})
/** Consumes a code. Only one of several requests with the same code succeeds. */
export const consumeRecoveryCode = statement({
  name: 'auth.use_recovery_code',
  takes: { userId: 'uuid', hash: 'bytea' },
  text: 'delete from auth.recovery_codes where user_id = $userId and code_hash = $hash'
})
/** Deletes the logins that wait for a code of a second factor that was removed. */
export const deleteLoginChallengesOfUser = statement({
  name: 'auth.delete_login_challenges_of_user',
  takes: { userId: 'uuid' },
  text: 'delete from auth.login_challenges where user_id = $userId'
})
