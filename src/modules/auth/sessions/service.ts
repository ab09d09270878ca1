import { newId } from '../../../kernel/ids.ts'
import { pageOf } from '../../../kernel/pages.ts'
import type { Database, Queryable } from '../../../platform/postgres.ts'
import { idOfCursor } from '../cursor.ts'
import { invalidRefreshToken, sessionNotFound } from '../errors.ts'
import type { Role } from '../schema.ts'
import { hashSecret, newSecret } from '../secrets.ts'
import type { AccessTokens } from '../tokens/access-tokens.ts'
import * as repository from './repository.ts'

const REFRESH_PREFIX = 'rt_'

export type SessionDeps = {
  db: Database
  accessTokens: AccessTokens
  limits: { session_days: number; session_idle_days: number }
}
type Caller = { userId: string; sessionId: string | null }
export type SessionOwner = { id: string; role: Role; passwordHash: string }

export function createSessionService({ db, accessTokens, limits }: SessionDeps) {
  async function tokensFor(session: { id: string; userId: string; role: Role }, refreshToken: string) {
    return {
      access_token: await accessTokens.issue(session),
      refresh_token: refreshToken,
      token_type: 'Bearer' as const,
      expires_in: accessTokens.lifetimeSeconds
    }
  }

  /** Opens a session; `undefined` when the owner is disabled or has another password by now. */
  async function open(tx: Queryable, owner: SessionOwner, userAgent: string | null) {
    const id = newId()
    const refreshToken = newSecret(REFRESH_PREFIX)
    const isOpen = await repository.open(tx, {
      id,
      userId: owner.id,
      passwordHash: owner.passwordHash,
      userAgent,
      days: limits.session_days,
      tokenHash: hashSecret(refreshToken)
    })
    return isOpen ? tokensFor({ id, userId: owner.id, role: owner.role }, refreshToken) : undefined
  }

  /**
   * New tokens for an unused refresh token. One that cannot be used ends its session, if it has one: when it was
   * used before, a thief and its owner both hold it, and nobody can tell which is which.
   * @throws `AUTH_INVALID_REFRESH_TOKEN`, whatever the reason.
   */
  async function refresh(refreshToken: string) {
    const usedHash = hashSecret(refreshToken)
    const next = newSecret(REFRESH_PREFIX)
    const session = await db.transaction(async tx => {
      const tokens = { usedHash, nextHash: hashSecret(next), idleDays: limits.session_idle_days }
      const rotated = await repository.rotate(tx, tokens)
      if (rotated === undefined) await repository.endOfToken(tx, usedHash)
      return rotated
    })
    if (session === undefined) throw invalidRefreshToken()
    const { session_id: id, user_id: userId, role } = session
    return tokensFor({ id, userId, role: role as Role }, next)
  }

  async function list(
    { userId, sessionId }: Caller,
    { limit = 20, cursor }: { limit?: number; cursor?: string }
  ) {
    const rows = await repository.list(db, userId, {
      before: idOfCursor(cursor),
      limit: limit + 1,
      idleDays: limits.session_idle_days
    })
    return pageOf(
      rows,
      limit,
      row => [row.id],
      row => ({
        id: row.id,
        user_agent: row.user_agent,
        created_at: row.created_at.toISOString(),
        last_used_at: row.last_used_at.toISOString(),
        expires_at: row.expires_at.toISOString(),
        current: row.id === sessionId
      })
    )
  }

  /** @throws `AUTH_SESSION_NOT_FOUND` when it is absent, or somebody else's. */
  async function end(userId: string, id: string): Promise<void> {
    if (!(await repository.end(db, id, userId))) throw sessionNotFound()
  }

  /** Ends the session behind an access token. Tokens of other issuers have none here. */
  async function logOut({ userId, sessionId }: Caller): Promise<void> {
    if (sessionId !== null) await repository.end(db, sessionId, userId)
  }

  return { open, refresh, list, end, logOut }
}
export type SessionService = ReturnType<typeof createSessionService>
