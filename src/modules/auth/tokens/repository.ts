import type { Queryable } from '../../../platform/postgres.ts'
import { type RowOf, statement } from '../../../platform/statement.ts'

// The very first key signs at once; a later one is published for a while before. Two processes that rotate at once
// come to the same generation, and one of them loses without noticing.
const insertSigningKey = statement(
  'auth.insert_signing_key',
  {},
  `insert into auth.signing_keys (kid, generation, private_jwk, signs_from)
   select $1, coalesce(max(generation), 0) + 1, $2,
     case when count(*) = 0 then now() else now() + make_interval(secs => $4) end
   from auth.signing_keys
   having coalesce(max(created_at) <= now() - make_interval(days => $3), true)
   on conflict (generation) do nothing`
)
const listSigningKeys = statement(
  'auth.list_signing_keys',
  { kid: 'text', private_jwk: 'jsonb', signs: 'bool' },
  `select kid, private_jwk,
     generation = (select max(generation) from auth.signing_keys where signs_from <= now()) as signs
   from auth.signing_keys order by generation desc`
)
const deleteRetiredKeys = statement(
  'auth.delete_retired_signing_keys',
  {},
  `delete from auth.signing_keys k using auth.signing_keys successor
   where successor.generation = k.generation + 1 and successor.signs_from <= now() - make_interval(secs => $1)`
)

export type SigningKeyRow = RowOf<typeof listSigningKeys>

export type KeySchedule = { rotationDays: number; noticeSeconds: number; overlapSeconds: number }

/** Adds this key if there is none, or none made within the last `rotationDays`. */
export async function insertIfDue(
  db: Queryable,
  key: { kid: string; privateJwk: object },
  { rotationDays, noticeSeconds }: KeySchedule
): Promise<void> {
  await db.query(insertSigningKey, [key.kid, key.privateJwk, rotationDays, noticeSeconds])
}

export const list = (db: Queryable): Promise<SigningKeyRow[]> => db.query(listSigningKeys, [])

/** Drops the keys whose last tokens have expired. */
export async function deleteRetired(db: Queryable, { overlapSeconds }: KeySchedule): Promise<void> {
  await db.query(deleteRetiredKeys, [overlapSeconds])
}
