import type { Queryable, Transaction } from './postgres.ts'
import { statement } from './statement.ts'

export type StoredAnswer = {
  fingerprint: Buffer
  state: string
  status: number | null
  answer: Buffer | null
}

// A claim is one statement: it makes the row, or takes over one that expired or whose lease ran out without an
// answer (its process died). No row comes back when the key is somebody else's for now, or for good.
const claimKey = statement(
  'idempotency.claim_key',
  { state: 'text' },
  `insert into cartwright.idempotency_keys as present (key_hash, fingerprint, state, lease, lease_until, expires_at)
   values ($1, $2, 'running', $3, now() + make_interval(secs => $4), now() + interval '48 hours')
   on conflict (key_hash) do update set
     state = case when present.expires_at <= now() then 'running' else present.state end,
     fingerprint = excluded.fingerprint, lease = excluded.lease, lease_until = excluded.lease_until,
     status = null, answer = null, expires_at = excluded.expires_at
   where present.expires_at <= now()
      or (present.state <> 'done' and present.lease_until <= now() and present.fingerprint = excluded.fingerprint)
   returning state`
)
const findKey = statement(
  'idempotency.find_key',
  { fingerprint: 'bytea', state: 'text', status: 'int4?', answer: 'bytea?' },
  'select fingerprint, state, status, answer from cartwright.idempotency_keys where key_hash = $1'
)
const markKeyApplied = statement(
  'idempotency.mark_key_applied',
  { state: 'text' },
  `update cartwright.idempotency_keys set state = 'applied'
   where key_hash = $1 and lease = $2 and state = 'running' returning state`
)
const finishKey = statement(
  'idempotency.finish_key',
  {},
  `update cartwright.idempotency_keys set state = 'done', status = $3, answer = $4
   where key_hash = $1 and lease = $2`
)
const releaseKey = statement(
  'idempotency.release_key',
  {},
  `delete from cartwright.idempotency_keys where key_hash = $1 and lease = $2 and state = 'running'`
)
const deleteExpiredKeys = statement(
  'idempotency.delete_expired_keys',
  { key_hash: 'bytea' },
  `delete from cartwright.idempotency_keys where key_hash in
     (select key_hash from cartwright.idempotency_keys where expires_at <= now() limit 1000 for update skip locked)
   returning key_hash`
)

export type Claim = { keyHash: Buffer; lease: string }

/** Claims the key; `applied` says that an earlier holder committed its work. `undefined` when it cannot be had. */
export async function claim(
  db: Queryable,
  key: Claim & { fingerprint: Buffer; leaseSeconds: number }
): Promise<{ applied: boolean } | undefined> {
  const [row] = await db.query(claimKey, [key.keyHash, key.fingerprint, key.lease, key.leaseSeconds])
  return row && { applied: row.state === 'applied' }
}

export const find = async (db: Queryable, keyHash: Buffer): Promise<StoredAnswer | undefined> =>
  (await db.query(findKey, [keyHash]))[0]

/** False when the lease was lost to a later try of the same request. */
export const markApplied = async (tx: Transaction, { keyHash, lease }: Claim): Promise<boolean> =>
  (await tx.query(markKeyApplied, [keyHash, lease])).length === 1

export async function finish(
  db: Queryable,
  { keyHash, lease }: Claim,
  status: number,
  answer: Buffer
): Promise<void> {
  await db.query(finishKey, [keyHash, lease, status, answer])
}

/** Gives the key back, unless its work was committed: then it stays claimed until the lease runs out. */
export async function release(db: Queryable, { keyHash, lease }: Claim): Promise<void> {
  await db.query(releaseKey, [keyHash, lease])
}

export const deleteExpired = async (db: Queryable): Promise<number> =>
  (await db.query(deleteExpiredKeys, [])).length
