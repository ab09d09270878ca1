import type { Queryable, Transaction } from '../../../platform/postgres.ts'
import { type RowOf, statement } from '../../../platform/statement.ts'

const INVITATION = {
  id: 'uuid',
  created_at: 'timestamptz',
  expires_at: 'timestamptz',
  used_at: 'timestamptz?',
  used_by: 'uuid?'
} as const

const insertInvitation = statement(
  'auth.insert_invitation',
  INVITATION,
  `insert into auth.invitations (id, code_hash, created_by, expires_at)
   values ($1, $2, $3, now() + make_interval(days => $4))
   returning id, created_at, expires_at, used_at, used_by`
)
const listInvitations = statement(
  'auth.list_invitations',
  INVITATION,
  `select id, created_at, expires_at, used_at, used_by from auth.invitations
   where $1::uuid is null or id < $1 order by id desc limit $2`
)
const deleteInvitation = statement(
  'auth.delete_invitation',
  { id: 'uuid' },
  'delete from auth.invitations where id = $1 returning id'
)
const findOpenInvitation = statement(
  'auth.find_open_invitation',
  { id: 'uuid' },
  'select id from auth.invitations where code_hash = $1 and used_at is null and expires_at > now()'
)
const useInvitation = statement(
  'auth.use_invitation',
  { id: 'uuid' },
  `update auth.invitations set used_at = now(), used_by = $2
   where code_hash = $1 and used_at is null and expires_at > now() returning id`
)
const deleteOldInvitations = statement(
  'auth.delete_old_invitations',
  { id: 'uuid' },
  `delete from auth.invitations where id in
     (select id from auth.invitations where expires_at <= now() - interval '30 days'
      limit 1000 for update skip locked)
   returning id`
)

export type InvitationRow = RowOf<typeof insertInvitation>

export type NewInvitation = { id: string; codeHash: Buffer; createdBy: string; days: number }

export async function insert(db: Queryable, invitation: NewInvitation): Promise<InvitationRow> {
  const { id, codeHash, createdBy, days } = invitation
  return (await db.query(insertInvitation, [id, codeHash, createdBy, days]))[0] as InvitationRow
}

export const list = (db: Queryable, before: string | null, limit: number): Promise<InvitationRow[]> =>
  db.query(listInvitations, [before, limit])

export const remove = async (db: Queryable, id: string): Promise<boolean> =>
  (await db.query(deleteInvitation, [id])).length === 1

export const isOpen = async (db: Queryable, codeHash: Buffer): Promise<boolean> =>
  (await db.query(findOpenInvitation, [codeHash])).length === 1

/** False when the invitation was used or ran out in the meantime. */
export const use = async (tx: Transaction, codeHash: Buffer, userId: string): Promise<boolean> =>
  (await tx.query(useInvitation, [codeHash, userId])).length === 1

/** Invitations that ended a month ago; until then the list shows what became of them. */
export const deleteOld = async (db: Queryable): Promise<number> =>
  (await db.query(deleteOldInvitations, [])).length
