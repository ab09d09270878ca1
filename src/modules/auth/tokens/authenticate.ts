import { newId } from '../../../kernel/ids.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { invalidAccessTokenError } from '../errors.ts'
import * as users from '../users/repository.ts'
import type { AccessTokenService } from './access-tokens.ts'
import type { ExternalIssuerUser, VerifyExternalToken } from './external-tokens.ts'
import { parseUnverifiedJwt } from './parse.ts'
import { type VerifiedTokenIdentity, verifiedTokenCacheExpiryOf } from './verify.ts'

export type AuthenticateDeps = {
  db: Database
  accessTokens: AccessTokenService
  /** Verifiers of access tokens, by external issuer. */
  issuers: ReadonlyMap<unknown, VerifyExternalToken>
  /** Whether administrators need a second factor. */
  requiresSecondFactor: boolean
}

/**
 * Creates the verification of bearer tokens. The unverified `iss` only selects the issuer's rules.
 * @throws `AUTH_INVALID_TOKEN` for an invalid token, `AUTH_ISSUER_UNAVAILABLE` when the issuer's keys cannot be loaded.
 */
export function createTokenAuthenticator(deps: AuthenticateDeps) {
  const { db, accessTokens, issuers, requiresSecondFactor } = deps

  /** API keys need no second factor, because their permissions are limited instead. */
  const lacksSecondFactor = ({ role, apiKeyId, hasSecondFactor }: VerifiedTokenIdentity): boolean =>
    requiresSecondFactor && role === 'admin' && apiKeyId === undefined && !hasSecondFactor

  return async function authenticate(
    text: string
  ): Promise<VerifiedTokenIdentity & { lacksSecondFactor?: true }> {
    const verified = await verify(text)
    return lacksSecondFactor(verified) ? { ...verified, lacksSecondFactor: true } : verified
  }

  async function verify(text: string): Promise<VerifiedTokenIdentity> {
    const token = parseUnverifiedJwt(text)
    const { iss } = token.claims
    if (iss === accessTokens.issuer) return accessTokens.verify(token)
    const verifyExternal = issuers.get(iss)
    if (verifyExternal === undefined) throw invalidAccessTokenError()
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
      expiresAt: verifiedTokenCacheExpiryOf(caller.exp)
    }
  }

  /** Returns the user id of an external caller. Creates the user on the first request. */
  async function userOf(caller: ExternalIssuerUser): Promise<string> {
    const { issuer, subject, email, name } = caller
    const find = () => db.first(users.findExternalIdentity, { issuer, subject })
    let user = await find()
    if (user === undefined) {
      await db.run(users.insertExternalUser, { id: newId(), issuer, subject, email, name })
      user = await find()
    }
    if (user === undefined || user.disabled) throw invalidAccessTokenError()
    return user.user_id
  }
}
