import { newId } from '../../../kernel/ids.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import * as users from '../accounts/repository.ts'
import { invalidToken } from '../errors.ts'
import type { AccessTokens } from './access-tokens.ts'
import type { ExternalCaller, ExternalTokens } from './external-tokens.ts'
import { parseToken } from './parse.ts'
import { believedUntil, type Verified } from './verify.ts'

export type AuthenticateDeps = {
  db: Database
  accessTokens: AccessTokens
  /** By the name of the issuer. */
  issuers: ReadonlyMap<unknown, ExternalTokens>
  /** Of administrators. */
  requiresSecondFactor: boolean
}

/**
 * Verifies a bearer token. Whose it says it is (`iss`) only chooses the rules; they alone decide.
 * @throws `AUTH_INVALID_TOKEN` for every token that is not good, `AUTH_ISSUER_UNAVAILABLE` when nobody can tell.
 */
export function createAuthenticate(deps: AuthenticateDeps) {
  const { db, accessTokens, issuers, requiresSecondFactor } = deps

  /** API keys cannot log in: what they may do is limited instead. */
  const lacksSecondFactor = ({ role, apiKeyId, hasSecondFactor }: Verified): boolean =>
    requiresSecondFactor && role === 'admin' && apiKeyId === undefined && !hasSecondFactor

  return async function authenticate(text: string): Promise<Verified & { lacksSecondFactor?: true }> {
    const verified = await verify(text)
    return lacksSecondFactor(verified) ? { ...verified, lacksSecondFactor: true } : verified
  }

  async function verify(text: string): Promise<Verified> {
    const token = parseToken(text)
    const { iss } = token.claims
    if (iss === accessTokens.issuer) return accessTokens.verify(token)
    const verifyExternal = issuers.get(iss)
    if (verifyExternal === undefined) throw invalidToken()
    const caller = await verifyExternal(token)
    const role = caller.isAdmin ? 'admin' : 'customer'
    const { scopes, authenticatedAt, hasSecondFactor } = caller
    return {
      userId: await userOf(caller),
      role,
      scopes,
      sessionId: null,
      ...(authenticatedAt !== undefined && { authenticatedAt }),
      hasSecondFactor,
      expiresAt: believedUntil(caller.exp)
    }
  }

  /** The user that stands for this caller here, made when they come for the first time. */
  async function userOf(caller: ExternalCaller): Promise<string> {
    const { issuer, subject, email, name } = caller
    const find = () => db.first(users.findExternal, { issuer, subject })
    let user = await find()
    if (user === undefined) {
      await db.run(users.insertExternal, { id: newId(), issuer, subject, email, name })
      user = await find()
    }
    if (user === undefined || user.disabled) throw invalidToken()
    return user.user_id
  }
}
