import { found } from '../../../kernel/errors.ts'
import { newId } from '../../../kernel/ids.ts'
import { invalidAccessTokenError } from '../errors.ts'
import type { UserRole } from '../users/schema.ts'
import type { ParsedJwt } from './parse.ts'
import type { SigningKeyStore } from './signing-keys.ts'
import {
  loadJoseLibrary,
  type VerifiedTokenIdentity,
  verifiedTokenCacheExpiryOf,
  verifyAccessToken
} from './verify.ts'

const AUDIENCE = 'cartwright'
const ALGORITHM = 'EdDSA'
const TYPE = 'at+jwt' // RFC 9068, section 2.1
/** The OAuth client of logins at the shop itself (RFC 9068, section 2.2: `client_id` is required). */
const FIRST_PARTY = 'cartwright'
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const KEY_LIFETIME_SECONDS = 900
const ROLES: readonly unknown[] = ['customer', 'admin']

/** Permissions of a caller; `scopes` is null for customers and administrators with full access. */
export type UserRoleAndScopes = { role: UserRole; scopes: string[] | null }

type OpenSession = UserRoleAndScopes & { auth_time: number; second_factor: boolean }

export type AccessTokenDeps = {
  keys: SigningKeyStore
  issuer: string
  lifetimeSeconds: number
  /** Returns the current permissions of a session's user, and how it was opened; `undefined` when it has ended. */
  findSession: (id: string, userId: string) => Promise<OpenSession | undefined>
  /** Returns the current permissions of an API key; `undefined` when it is invalid. */
  findKey: (id: string, userId: string) => Promise<UserRoleAndScopes | undefined>
}

/** Issues and verifies the shop's own access tokens (RFC 9068). */
export function createAccessTokenService({
  keys,
  issuer,
  lifetimeSeconds,
  findSession,
  findKey
}: AccessTokenDeps) {
  async function sign(
    userId: string,
    { role, scopes }: UserRoleAndScopes,
    of: object,
    seconds: number
  ): Promise<string> {
    const { kid, privateKey } = keys.signing()
    const now = Math.floor(Date.now() / 1_000)
    const { SignJWT } = await loadJoseLibrary()
    return new SignJWT({ role, ...of, ...(scopes !== null && { scopes }) })
      .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid })
      .setIssuer(issuer)
      .setAudience(AUDIENCE)
      .setSubject(userId)
      .setJti(newId())
      .setIssuedAt(now)
      .setExpirationTime(now + seconds)
      .sign(privateKey)
  }

  const issue = (
    session: { id: string; userId: string; authTime: number } & UserRoleAndScopes
  ): Promise<string> => {
    const { id: sid, authTime } = session
    const claims = { client_id: FIRST_PARTY, sid, auth_time: Math.floor(authTime) }
    return sign(session.userId, session, claims, lifetimeSeconds)
  }

  async function issueForKey(key: { id: string; userId: string } & UserRoleAndScopes) {
    const seconds = KEY_LIFETIME_SECONDS
    const claims = { client_id: key.id, api_key_id: key.id }
    return { token: await sign(key.userId, key, claims, seconds), seconds }
  }

  async function verify(token: ParsedJwt): Promise<VerifiedTokenIdentity> {
    const { header } = token
    if (header.typ !== TYPE || header.alg !== ALGORITHM) throw invalidAccessTokenError()
    const key = await keys.publicKey(header.kid)
    if (key === undefined) throw invalidAccessTokenError()
    const claims = await verifyAccessToken(token, key, {
      issuer,
      audience: AUDIENCE,
      algorithms: [ALGORITHM]
    })
    const { sub, sid, api_key_id, jti, iat, role, exp } = claims
    if (!UUID.test(sub) || typeof jti !== 'string' || typeof iat !== 'number' || !ROLES.includes(role))
      throw invalidAccessTokenError()
    const isOfKey = sid === undefined
    const id = isOfKey ? api_key_id : sid
    if (typeof id !== 'string' || !UUID.test(id)) throw invalidAccessTokenError()

    // Current permissions, because a token must not keep revoked ones.
    const expiresAt = verifiedTokenCacheExpiryOf(exp)
    if (isOfKey) {
      const rights = found(await findKey(id, sub), invalidAccessTokenError)
      return { userId: sub, ...rights, sessionId: null, apiKeyId: id, hasSecondFactor: false, expiresAt }
    }
    const session = found(await findSession(id, sub), invalidAccessTokenError)
    const { auth_time: authenticatedAt, second_factor: hasSecondFactor, ...rights } = session
    return { userId: sub, ...rights, sessionId: id, authenticatedAt, hasSecondFactor, expiresAt }
  }

  return { issuer, lifetimeSeconds, issue, issueForKey, verify }
}
export type AccessTokenService = ReturnType<typeof createAccessTokenService>
