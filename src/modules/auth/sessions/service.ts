import { newId } from '../../../kernel/ids.ts'
import { newestFirst, readPage } from '../../../kernel/pages.ts'
import type { PageQuery } from '../../../kernel/wire.ts'
import type { Write } from '../../../platform/idempotency/write.ts'
import type { Database, Queryable, Transaction } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import { invalidRefreshToken, sessionNotFound } from '../errors.ts'
import type { AccessTokens, Rights } from '../tokens/access-tokens.ts'
import { createRefreshTokens, type RefreshToken } from './refresh-tokens.ts'
import * as repository from './repository.ts'
import type { Revocations } from './revocations.ts'

/** For so long the token before the present one gets the same successor again: two tabs, or an answer that was lost. */
const GRACE_SECONDS = 20

export type SessionDeps = {
  db: Database
  secrets: Secrets
  accessTokens: AccessTokens
  revocations: Revocations
  limits: { session_days: number; session_idle_days: number }
}
type Caller = { userId: string; sessionId: string | null }
export type SessionOwner = Rights & { id: string; passwordHash: string; hasSecondFactor: boolean }
/** What tokens say; `auth_time` is when the session was opened, in seconds since 1970. */
type Holder = Rights & { auth_time: number }
type Rotated = Holder & { user_id: string; token: RefreshToken }

export function createSessionService({ db, secrets, accessTokens, revocations, limits }: SessionDeps) {
  const refreshTokens = createRefreshTokens(secrets)
  const idleDays = limits.session_idle_days

  async function tokensFor(
    userId: string,
    { role, scopes, auth_time }: Holder,
    { sessionId, text }: RefreshToken
  ) {
    const session = { id: sessionId, userId, role, scopes, authTime: auth_time }
    return {
      access_token: await accessTokens.issue(session),
      refresh_token: text,
      token_type: 'Bearer' as const,
      expires_in: accessTokens.lifetimeSeconds
    }
  }

  /** Opens a session; `undefined` when the owner is disabled, or has another password or a second factor by now. */
  async function open(tx: Queryable, owner: SessionOwner, userAgent: string | null) {
    const token = refreshTokens.first(newId())
    const opened = await tx.first(repository.insertSession, {
      id: token.sessionId,
      userId: owner.id,
      passwordHash: owner.passwordHash,
      userAgent,
      days: limits.session_days,
      tokenHash: token.hash,
      secondFactor: owner.hasSecondFactor
    })
    return opened && tokensFor(owner.id, { ...owner, ...opened }, token)
  }

  /**
   * New tokens for a refresh token. Its direct predecessor gets the same ones within 20 seconds, and at any age where it
   * is the same request again. Every other one of ours that is not the present one ends its session: a thief and its
   * owner both hold it, and nobody can tell which is which.
   * @throws `AUTH_INVALID_REFRESH_TOKEN`, whatever the reason.
   */
  async function refresh(text: string, write: Write) {
    const token = refreshTokens.read(text)
    if (token === undefined) throw invalidRefreshToken()
    const done = await write.once(db, async tx => ({ rotated: await rotate(tx, token) }))
    const rotated = done === undefined ? (await successorOf(db, token)).successor : done.rotated
    if (rotated === undefined) throw invalidRefreshToken()
    return tokensFor(rotated.user_id, rotated, rotated.token)
  }

  async function rotate(tx: Transaction, token: RefreshToken): Promise<Rotated | undefined> {
    const [next] = refreshTokens.successors(token)
    const { sessionId: id, hash } = token
    const session = await tx.first(repository.rotateToken, { id, hash, nextHash: next.hash, idleDays })
    if (session !== undefined) return { ...session, token: next }

    const { userId, isRecent, successor } = await successorOf(tx, token)
    if (successor !== undefined && isRecent) return successor
    if (userId !== undefined && refreshTokens.isOurs(token)) await endIn(tx, id, userId)
    return undefined
  }

  /** What this token was exchanged for, as long as that was not exchanged in turn. */
  async function successorOf(from: Queryable, token: RefreshToken) {
    const session = await from.first(repository.findRotation, {
      id: token.sessionId,
      graceSeconds: GRACE_SECONDS,
      idleDays
    })
    const isPredecessor = session?.previous_hash?.equals(token.hash) === true
    const next = isPredecessor
      ? refreshTokens.successors(token).find(each => each.hash.equals(session.token_hash))
      : undefined
    return {
      userId: session?.user_id,
      isRecent: session?.is_recent,
      successor: session && next && { ...session, token: next }
    }
  }

  const list = ({ userId, sessionId }: Caller, query: PageQuery) =>
    readPage(query, {
      ...newestFirst,
      name: 'sessions',
      rows: page => db.rows(repository.listSessions, { userId, sessionId, idleDays, ...page }),
      total: () => db.first(repository.countSessions, { userId, idleDays })
    })

  /** Ends a session of this user; false when there is none. */
  async function endIn(tx: Transaction, id: string, userId: string): Promise<boolean> {
    const ended = await tx.run(repository.deleteSession, { id, userId })
    if (ended > 0) await revocations.announce(tx, userId)
    return ended > 0
  }

  /** @throws `AUTH_SESSION_NOT_FOUND` when it is absent, or somebody else's. */
  async function end(userId: string, id: string, write: Write): Promise<void> {
    await write.once(db, async tx => {
      if (!(await endIn(tx, id, userId))) throw sessionNotFound()
    })
  }

  /** Ends the session behind an access token. Tokens of other issuers have none here. */
  async function logOut({ userId, sessionId }: Caller, write: Write): Promise<void> {
    await write.once(db, async tx => {
      if (sessionId !== null) await endIn(tx, sessionId, userId)
    })
  }

  /** Ends every session of a user but one (`null`: every one), and what was verified of any of them. */
  async function endAll(tx: Transaction, userId: string, keptId: string | null): Promise<void> {
    await tx.run(repository.deleteOtherSessions, { userId, keptId })
    await revocations.announce(tx, userId)
  }

  return { open, refresh, list, end, endIn, logOut, endAll, verifyAgain: revocations.announce }
}
export type SessionService = ReturnType<typeof createSessionService>
