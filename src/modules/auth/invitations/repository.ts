import { countUpTo } from '../../../platform/postgres/counting.ts'
import { statement } from '../../../platform/postgres/statement.ts'

const INVITATION = {
  id: 'uuid',
  created_at: 'timestamptz',
  expires_at: 'timestamptz',
  used_at: 'timestamptz?',
  used_by: 'uuid?'
} as const

export const insertRegistrationInvitation = statement({
  name: 'auth.insert_invitation',
  takes: { id: 'uuid', codeHash: 'bytea', createdBy: 'uuid', days: 'int4' },
  text: `
    insert into auth.invitations (id, code_hash, created_by, expires_at)
    values ($id, $codeHash, $createdBy, now() + make_interval(days => $days))`
})
export const findRegistrationInvitation = statement({
  name: 'auth.find_invitation',
  takes: { id: 'uuid' },
  gives: { ...INVITATION, code_hash: 'bytea' },
  text: 'select id, created_at, expires_at, used_at, used_by, code_hash from auth.invitations where id = $id'
})
export const listRegistrationInvitations = statement({
  name: 'auth.list_invitations',
  takes: { after: 'uuid', limit: 'int8' },
  gives: INVITATION,
  text: `
    select id, created_at, expires_at, used_at, used_by from auth.invitations
    where id < $after order by id desc limit $limit`
})
export const countRegistrationInvitations = statement({
  name: 'auth.count_invitations',
  gives: { total: 'int4' },
  text: countUpTo('auth.invitations')
})

export const deleteRegistrationInvitation = statement({
  name: 'auth.delete_invitation',
  takes: { id: 'uuid' },
  text: 'delete from auth.invitations where id = $id'
})
/** A valid invitation, or one that this user has used, for a retry of the registration. */
export const findUsableRegistrationInvitation = statement({
  name: 'auth.find_usable_invitation',
  takes: { codeHash: 'bytea', userId: 'uuid' },
  gives: { id: 'uuid' },
  text: `
    select id from auth.invitations
    where code_hash = $codeHash and (used_by = $userId or (used_at is null and expires_at > now()))`
})
/** Marks an invitation as used. Changes nothing when it was used or expired in the meantime. */
export const markRegistrationInvitationUsed = statement({
  name: 'auth.use_invitation',
  takes: { codeHash: 'bytea', userId: 'uuid' },
  text: `
    update auth.invitations set used_at = now(), used_by = $userId
    where code_hash = $codeHash and used_at is null and expires_at > now()`
})
/** Deletes invitations that expired a month ago. Until then the list shows whether they were used. */
export const deleteOldRegistrationInvitations = statement({
  name: 'auth.delete_old_invitations',
  text: `
    delete from auth.invitations where id in
      (select id from auth.invitations where expires_at <= now() - interval '30 days'
       limit 1000 for update skip locked)`
})
