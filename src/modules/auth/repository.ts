import type { Queryable, Transaction } from '../../platform/postgres.ts'
import { type RowOf, statement } from '../../platform/statement.ts'

const USER = { id: 'uuid', email: 'text?', name: 'text?', role: 'text', created_at: 'timestamptz' } as const
const LOGIN = { ...USER, password_hash: 'text?', disabled: 'bool' } as const

const insertUserRow = statement(
  'auth.insert_user',
  USER,
  `insert into auth.users (id, email, name, role, password_hash)
   values ($1, $2, $3, $4, $5)
   returning id, email, name, role, created_at`
)
const findUserById = statement(
  'auth.find_user',
  LOGIN,
  `select id, email, name, role, created_at, password_hash, disabled_at is not null as disabled
   from auth.users where id = $1`
)
const findUserByLogin = statement(
  'auth.find_login',
  LOGIN,
  `select id, email, name, role, created_at, password_hash, disabled_at is not null as disabled
   from auth.users where lower(email) = lower($1) and password_hash is not null`
)
const updateUserName = statement(
  'auth.update_user_name',
  USER,
  'update auth.users set name = $2 where id = $1 returning id, email, name, role, created_at'
)
// The old hash is the condition: of two changes that were both allowed by the same old password, one wins.
const updateUserPassword = statement(
  'auth.update_user_password',
  { id: 'uuid' },
  'update auth.users set password_hash = $2 where id = $1 and password_hash = $3 returning id'
)
const existsAdmin = statement(
  'auth.exists_admin',
  { found: 'bool' },
  `select exists (select from auth.users where role = 'admin' and disabled_at is null) as found`
)
const lockAdmins = statement(
  'auth.lock_admins',
  {},
  `select pg_advisory_xact_lock(hashtextextended('auth.first_admin', 0))`
)

const findExternalIdentity = statement(
  'auth.find_external_identity',
  { user_id: 'uuid', disabled: 'bool' },
  `select u.id as user_id, u.disabled_at is not null as disabled
   from auth.external_identities i join auth.users u on u.id = i.user_id
   where i.issuer = $1 and i.subject = $2`
)
// One statement: of many first requests of somebody, the first makes the user and the others make nothing.
const insertExternalIdentity = statement(
  'auth.insert_external_identity',
  {},
  `with identity as (
     insert into auth.external_identities (issuer, subject, user_id) values ($1, $2, $3)
     on conflict (issuer, subject) do nothing returning user_id
   )
   insert into auth.users (id, email, name, role) select user_id, $4, $5, 'customer' from identity`
)

const findFailedLogins = statement(
  'auth.find_failed_logins',
  { failures: 'int4', retry_after_seconds: 'int4' },
  `select failures, ceil(extract(epoch from started_at + make_interval(secs => $2) - now()))::int as retry_after_seconds
   from auth.failed_logins where key_hash = $1 and started_at > now() - make_interval(secs => $2)`
)
const upsertFailedLogin = statement(
  'auth.upsert_failed_login',
  { failures: 'int4', retry_after_seconds: 'int4' },
  `insert into auth.failed_logins as present (key_hash, failures) values ($1, 1)
   on conflict (key_hash) do update set
     failures = case when present.started_at > now() - make_interval(secs => $2) then present.failures + 1 else 1 end,
     started_at = case when present.started_at > now() - make_interval(secs => $2) then present.started_at else now() end
   returning failures, ceil(extract(epoch from started_at + make_interval(secs => $2) - now()))::int as retry_after_seconds`
)
const deleteFailedLogins = statement(
  'auth.delete_failed_logins',
  {},
  'delete from auth.failed_logins where key_hash = $1'
)
const deleteOldFailedLogins = statement(
  'auth.delete_old_failed_logins',
  { key_hash: 'bytea' },
  `delete from auth.failed_logins where key_hash in
     (select key_hash from auth.failed_logins where started_at <= now() - make_interval(secs => $1)
      limit 1000 for update skip locked)
   returning key_hash`
)

export type UserRow = RowOf<typeof insertUserRow>
export type Failures = RowOf<typeof findFailedLogins>

export type NewUser = {
  id: string
  email: string
  name: string | null
  role: 'customer' | 'admin'
  passwordHash: string
}

export async function insertUser(db: Queryable, user: NewUser): Promise<UserRow> {
  const values = [user.id, user.email, user.name, user.role, user.passwordHash]
  const [row] = await db.query(insertUserRow, values)
  return row as UserRow
}

export const findUser = async (db: Queryable, id: string) => (await db.query(findUserById, [id]))[0]

export const findLogin = async (db: Queryable, email: string) => (await db.query(findUserByLogin, [email]))[0]

export const updateName = async (db: Queryable, id: string, name: string | null) =>
  (await db.query(updateUserName, [id, name]))[0]

/** False when the present password is no longer the one of `oldHash`. */
export const updatePassword = async (
  tx: Transaction,
  id: string,
  { newHash, oldHash }: { newHash: string; oldHash: string }
): Promise<boolean> => (await tx.query(updateUserPassword, [id, newHash, oldHash])).length === 1

export const hasAdmin = async (db: Queryable): Promise<boolean> =>
  (await db.query(existsAdmin, [])).some(row => row.found)

/** From here to the end of the transaction, no other process makes a first administrator. */
export async function lockFirstAdmin(tx: Transaction): Promise<void> {
  await tx.query(lockAdmins, [])
}

export const findExternal = async (db: Queryable, issuer: string, subject: string) =>
  (await db.query(findExternalIdentity, [issuer, subject]))[0]

export type NewExternalUser = {
  id: string
  issuer: string
  subject: string
  email: string | null
  name: string | null
}

/** Makes the user and their identity, unless somebody else just did. */
export async function insertExternal(db: Queryable, user: NewExternalUser): Promise<void> {
  await db.query(insertExternalIdentity, [user.issuer, user.subject, user.id, user.email, user.name])
}

/** What was counted within the window; `undefined` when nothing was. */
export const findFailures = async (db: Queryable, keyHash: Buffer, windowSeconds: number) =>
  (await db.query(findFailedLogins, [keyHash, windowSeconds]))[0]

export async function insertFailure(
  db: Queryable,
  keyHash: Buffer,
  windowSeconds: number
): Promise<Failures> {
  return (await db.query(upsertFailedLogin, [keyHash, windowSeconds]))[0] as Failures
}

export async function deleteFailures(db: Queryable, keyHash: Buffer): Promise<void> {
  await db.query(deleteFailedLogins, [keyHash])
}

export const deleteOldFailures = async (db: Queryable, windowSeconds: number): Promise<number> =>
  (await db.query(deleteOldFailedLogins, [windowSeconds])).length
