import { newId } from '../../../kernel/ids.ts'
import { newestFirst, readPage } from '../../../kernel/pages.ts'
import type { PageQuery } from '../../../kernel/wire.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database, Queryable, Transaction } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import { invalidRefreshTokenError, sessionNotFoundError } from '../errors.ts'
import type { AccessTokenService, UserRoleAndScopes } from '../tokens/access-tokens.ts'
import { createRefreshTokens, type RefreshTokenWithHash } from './refresh-tokens.ts'
import * as repository from './repository.ts'
import type { SessionRevocationChannel } from './revocations.ts'

/** Seconds in which the previous token gets the same successor again, for two tabs or a lost response. */
const GRACE_SECONDS = 20

export type SessionDeps = {
  db: Database
  secrets: Secrets
  accessTokens: AccessTokenService
  revocations: SessionRevocationChannel
  limits: { session_days: number; session_idle_days: number }
}
type SessionRef = { userId: string; sessionId: string | null }
export type SessionOwner = UserRoleAndScopes & { id: string; passwordHash: string; hasSecondFactor: boolean }
/** Contents of tokens; `auth_time` is when the session was opened, in seconds since 1970. */
type Holder = UserRoleAndScopes & { auth_time: number }
/** The id of a session that is to be opened, and the secret text from which its first refresh token is computed. */
export type RefreshTokenSeed = { sessionId: string; text: string }
type Rotated = Holder & { user_id: string; token: RefreshTokenWithHash }

export function createSessionService({ db, secrets, accessTokens, revocations, limits }: SessionDeps) {
  const refreshTokens = createRefreshTokens(secrets)
  const idleDays = limits.session_idle_days

  async function tokensFor(
    userId: string,
    { role, scopes, auth_time }: Holder,
    { sessionId, text }: RefreshTokenWithHash
  ) {
    const session = { id: sessionId, userId, role, scopes, authTime: auth_time }
    return {
      access_token: await accessTokens.issue(session),
      refresh_token: text,
      token_type: 'Bearer' as const,
      expires_in: accessTokens.lifetimeSeconds
    }
  }

  /** Opens a session. Returns `undefined` when the owner was disabled, or changed the password or second factor. */
  async function open(tx: Queryable, owner: SessionOwner, userAgent: string | null, seed?: RefreshTokenSeed) {
    const token = seed === undefined ? refreshTokens.first(newId()) : refreshTokens.successors(seed)[0]
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

  /** Returns the tokens of the session that an earlier try opened; `undefined` when they were refreshed, or it ended. */
  async function openedBefore(seed: RefreshTokenSeed) {
    const session = await findRotation(db, seed.sessionId)
    const token = refreshTokens.successors(seed).find(({ hash }) => session?.token_hash.equals(hash))
    return (
      session && token && { userId: session.user_id, ...(await tokensFor(session.user_id, session, token)) }
    )
  }

  const findRotation = (from: Queryable, id: string) =>
    from.first(repository.findRefreshTokensOfSession, { id, graceSeconds: GRACE_SECONDS, idleDays })

  /**
   * Exchanges a refresh token for new tokens. The previous token gets the same ones within 20 seconds, or at any age if it is
   * a retry of the same request. Any other old token ends its session, because both a thief and the owner may hold it.
   * @throws `AUTH_INVALID_REFRESH_TOKEN`, whatever the reason.
   */
  async function refresh(text: string, write: IdempotentWrite) {
    const token = refreshTokens.read(text)
    if (token === undefined) throw invalidRefreshTokenError()
    const done = await write.once(db, async tx => ({ rotated: await rotate(tx, token) }))
    const rotated = done === undefined ? (await successorOf(db, token)).successor : done.rotated
    if (rotated === undefined) throw invalidRefreshTokenError()
    return tokensFor(rotated.user_id, rotated, rotated.token)
  }

  async function rotate(tx: Transaction, token: RefreshTokenWithHash): Promise<Rotated | undefined> {
    const [next] = refreshTokens.successors(token)
    const { sessionId: id, hash } = token
    const session = await tx.first(repository.rotateRefreshToken, { id, hash, nextHash: next.hash, idleDays })
    if (session !== undefined) return { ...session, token: next }

    const { userId, isRecent, successor } = await successorOf(tx, token)
    if (successor !== undefined && isRecent) return successor
    if (userId !== undefined && refreshTokens.isAuthentic(token)) await endIn(tx, id, userId)
    return undefined
  }

  /** Returns the successor of this token, unless the successor was refreshed as well. */
  async function successorOf(from: Queryable, token: RefreshTokenWithHash) {
    const session = await findRotation(from, token.sessionId)
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

  const list = ({ userId, sessionId }: SessionRef, query: PageQuery) =>
    readPage(query, {
      ...newestFirst,
      name: 'sessions',
      rows: page => db.rows(repository.listSessionsOfUser, { userId, sessionId, idleDays, ...page }),
      total: () => db.first(repository.countSessionsOfUser, { userId, idleDays })
    })

  /** Ends a session of this user. Returns false when it does not exist. */
  async function endIn(tx: Transaction, id: string, userId: string): Promise<boolean> {
    const ended = await tx.run(repository.deleteSession, { id, userId })
    if (ended > 0) await revocations.announce(tx, userId)
    return ended > 0
  }

  /**
   * Ends a session of the caller. @throws `AUTH_SESSION_NOT_FOUND` when the session does not exist or belongs
   * to another user.
   */
  async function end(userId: string, id: string, write: IdempotentWrite): Promise<void> {
    await write.once(db, async tx => {
      if (!(await endIn(tx, id, userId))) throw sessionNotFoundError()
    })
  }

  /** Ends the session of an access token. Tokens of external issuers have none. */
  async function logOut({ userId, sessionId }: SessionRef, write: IdempotentWrite): Promise<void> {
    await write.once(db, async tx => {
      if (sessionId !== null) await endIn(tx, sessionId, userId)
    })
  }

  /** Ends all sessions of a user except one (`null`: all), and revokes cached verifications of their tokens. */
  async function endAll(tx: Transaction, userId: string, keptId: string | null): Promise<void> {
    await tx.run(repository.deleteOtherSessions, { userId, keptId })
    await revocations.announce(tx, userId)
  }

  return { open, openedBefore, refresh, list, end, endIn, logOut, endAll, verifyAgain: revocations.announce }
}
export type SessionService = ReturnType<typeof createSessionService>
