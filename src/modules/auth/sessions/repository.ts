import type { Queryable, Transaction } from '../../../platform/postgres.ts'
import { type RowOf, statement } from '../../../platform/statement.ts'

// Only for the password that was checked: `for share` waits for a change under way, which then makes this find no
// user, so that no session outlives the password it was opened with.
const insertSession = statement(
  'auth.insert_session',
  { session_id: 'uuid' },
  `with opened as (
     insert into auth.sessions (id, user_id, user_agent, expires_at)
     select $1, id, $4, now() + make_interval(days => $5) from auth.users
     where id = $2 and password_hash = $3 and disabled_at is null for share
     returning id
   )
   insert into auth.refresh_tokens (token_hash, session_id) select $6, id from opened returning session_id`
)
// Rotation is one conditional update: of any number of callers with the same token, one finds it unused. The session
// is locked before its tokens, in the order in which deleting a session locks them.
const rotateRefreshToken = statement(
  'auth.rotate_refresh_token',
  { session_id: 'uuid', user_id: 'uuid', role: 'text' },
  `with session as (
     select s.id, s.user_id, u.role from auth.refresh_tokens t
     join auth.sessions s on s.id = t.session_id
     join auth.users u on u.id = s.user_id
     where t.token_hash = $1 and u.disabled_at is null
       and s.expires_at > now() and s.last_used_at > now() - make_interval(days => $3)
     for update of s
   ), used as (
     update auth.refresh_tokens t set used_at = now() from session
     where t.token_hash = $1 and t.used_at is null returning t.session_id
   ), next as (
     insert into auth.refresh_tokens (token_hash, session_id) select $2, session_id from used
   )
   update auth.sessions s set last_used_at = now() from used, session where s.id = used.session_id
   returning s.id as session_id, s.user_id, session.role`
)
const deleteSessionOfToken = statement(
  'auth.delete_session_of_token',
  {},
  `delete from auth.sessions where id = (select session_id from auth.refresh_tokens where token_hash = $1)`
)
const findLiveSession = statement(
  'auth.find_live_session',
  { role: 'text' },
  `select u.role from auth.sessions s join auth.users u on u.id = s.user_id
   where s.id = $1 and s.user_id = $2 and s.expires_at > now() and u.disabled_at is null`
)
const listSessions = statement(
  'auth.list_sessions',
  {
    id: 'uuid',
    user_agent: 'text?',
    created_at: 'timestamptz',
    last_used_at: 'timestamptz',
    expires_at: 'timestamptz'
  },
  `select id, user_agent, created_at, last_used_at, expires_at from auth.sessions
   where user_id = $1 and ($2::uuid is null or id < $2)
     and expires_at > now() and last_used_at > now() - make_interval(days => $3)
   order by id desc limit $4`
)
const deleteSession = statement(
  'auth.delete_session',
  { id: 'uuid' },
  'delete from auth.sessions where id = $1 and user_id = $2 returning id'
)
const deleteOtherSessions = statement(
  'auth.delete_other_sessions',
  {},
  'delete from auth.sessions where user_id = $1 and id is distinct from $2'
)
const deleteExpiredSessions = statement(
  'auth.delete_expired_sessions',
  { id: 'uuid' },
  `delete from auth.sessions where id in
     (select id from auth.sessions
      where expires_at <= now() or last_used_at <= now() - make_interval(days => $1)
      limit 1000 for update skip locked)
   returning id`
)

export type SessionRow = RowOf<typeof listSessions>

export type NewSession = {
  id: string
  userId: string
  /** The hash that the password was checked against. */
  passwordHash: string
  userAgent: string | null
  days: number
  tokenHash: Buffer
}

/** False when the user is disabled or has another password by now. */
export async function open(db: Queryable, session: NewSession): Promise<boolean> {
  const { id, userId, passwordHash, userAgent, days, tokenHash } = session
  return (await db.query(insertSession, [id, userId, passwordHash, userAgent, days, tokenHash])).length === 1
}

/** Exchanges an unused token of a living session for the next one; `undefined` when it is not that. */
export const rotate = async (
  tx: Transaction,
  tokens: { usedHash: Buffer; nextHash: Buffer; idleDays: number }
) => (await tx.query(rotateRefreshToken, [tokens.usedHash, tokens.nextHash, tokens.idleDays]))[0]

export async function endOfToken(tx: Transaction, tokenHash: Buffer): Promise<void> {
  await tx.query(deleteSessionOfToken, [tokenHash])
}

/** The present role of the user of a session; `undefined` when it has ended. */
export const findLive = async (db: Queryable, id: string, userId: string) =>
  (await db.query(findLiveSession, [id, userId]))[0]

export const list = (
  db: Queryable,
  userId: string,
  page: { before: string | null; limit: number; idleDays: number }
): Promise<SessionRow[]> => db.query(listSessions, [userId, page.before, page.idleDays, page.limit])

export const end = async (db: Queryable, id: string, userId: string): Promise<boolean> =>
  (await db.query(deleteSession, [id, userId])).length === 1

/** Ends every session of the user but `keptId` (`null`: every one). */
export async function endOthers(tx: Transaction, userId: string, keptId: string | null): Promise<void> {
  await tx.query(deleteOtherSessions, [userId, keptId])
}

export const deleteExpired = async (db: Queryable, idleDays: number): Promise<number> =>
  (await db.query(deleteExpiredSessions, [idleDays])).length
