import type { FastifyReply, FastifyRequest } from 'fastify'
import { defineError } from '../../kernel/errors.ts'
import { secondFactorMissingError } from '../../kernel/logins.ts'
import { RecentlyUsedMap } from '../../kernel/recently-used-map.ts'
import { scopeMissingError } from '../../kernel/scopes.ts'
import { createSingleFlight } from '../../kernel/single-flight.ts'

/**
 * The caller, from a verified token. `expiresAt` is in seconds since 1970.
 * @example
 * const managesAll = ({ role, scopes }: Identity): boolean => role === 'admin' && scopes === null
 */
export type Identity = {
  readonly userId: string
  readonly role: 'customer' | 'admin'
  /** Modules that an administrator may manage; `null`: all. */
  readonly scopes: readonly string[] | null
  /** The session of a token that the shop issued; `null` for tokens of other issuers. */
  readonly sessionId: string | null
  /** The API key that was exchanged for the token. */
  readonly apiKeyId?: string
  /**
   * Time of the login with all factors (`auth_time`), in seconds since 1970. Refreshing tokens does not change it. Absent for
   * API keys, and if another issuer does not state it.
   */
  readonly authenticatedAt?: number
  /** The caller is an administrator who logged in without the second factor that the shop requires. */
  readonly lacksSecondFactor?: true
  readonly expiresAt: number
}
/** Verifies a bearer token. @throws `unauthenticated` for an invalid token. */
export type VerifyBearerToken = (token: string) => Promise<Identity>

export const authenticationRequiredError = defineError(
  'unauthenticated',
  'AUTHENTICATION_REQUIRED',
  'An access token is required. Send it as "Authorization: Bearer <token>".'
)
const authorizationRepeatedError = defineError(
  'invalid',
  'AUTHORIZATION_REPEATED',
  'The header Authorization was sent more than once. Send one access token.',
  { fault: { path: 'headers/authorization', message: 'must be sent once' } }
)
const adminRequiredError = defineError(
  'forbidden',
  'ADMIN_REQUIRED',
  'The role admin is required. Log in as an administrator.'
)
const userRequiredError = defineError(
  'forbidden',
  'PERSON_REQUIRED',
  'This route does not accept API keys. Log in as a user.'
)

declare module 'fastify' {
  interface FastifyRequest {
    identity: Identity | null
  }
}

/**
 * Returns the caller of a secured or admin route. Throws on the public tier, which does not authenticate.
 * @example
 * assert.equal(identityOf(request).userId, customerId)
 */
export function identityOf(request: FastifyRequest): Identity {
  if (request.identity === null)
    throw new Error(`${request.routeOptions.url} needs an identity, which the public tier does not have`)
  return request.identity
}

/** Reports users whose tokens must be verified again, because a session ended, a role changed, or they were disabled. */
export type TokenRevocationSource = {
  subscribe(subscriber: { onRevoked(userId: string): void; onGap(): void }): void
  /** While false, revocations may be missed. */
  isLive(): boolean
}

type VerifiedToken = { identity: Identity; startedAt: number }

const VERIFIED_BYTES_MAX = 33_554_432
const IDENTITY_BYTES = 300 // of a cached entry, without its token
const REVOKED_MAX = 10_000
const AUTHORIZATION = 'authorization'
const BEARER = /^Bearer +([^\s]+) *$/i

type Done = (error?: Error) => void
/**
 * Creates the hook that authenticates callers. Verified tokens are cached until they expire, because checking a signature
 * takes 170 us (2026-11). Simultaneous requests with the same new token verify it once.
 *
 * A verification that started before a revocation of its user is discarded, and none is cached while revocations may be
 * missed.
 */
export function createAuthenticationHook(
  authenticate: VerifyBearerToken,
  revocations?: TokenRevocationSource
) {
  /** Verified callers, by the value of the Authorization header. */
  const verified = new RecentlyUsedMap<VerifiedToken>(
    VERIFIED_BYTES_MAX,
    (_, header) => header.length + IDENTITY_BYTES
  )
  const verifyOnce = createSingleFlight<VerifiedToken>()
  const revokedAt = new Map<string, number>()
  let clearedAt = Number.NEGATIVE_INFINITY

  const clearAll = () => {
    clearedAt = performance.now()
    verified.clear()
    revokedAt.clear()
  }
  revocations?.subscribe({
    onRevoked: userId => {
      if (revokedAt.size >= REVOKED_MAX) clearAll()
      else revokedAt.set(userId, performance.now())
    },
    onGap: clearAll
  })
  const isRevoked = ({ identity, startedAt }: VerifiedToken): boolean =>
    startedAt <= clearedAt ||
    (revokedAt.size > 0 && startedAt <= (revokedAt.get(identity.userId) ?? Number.NEGATIVE_INFINITY))
  const isLive = () => revocations === undefined || revocations.isLive()

  const authenticateOnce = (token: string): Promise<VerifiedToken> =>
    verifyOnce(token, async () => {
      const startedAt = performance.now()
      return { identity: await authenticate(token), startedAt }
    })
  const verify = async (header: string, token: string): Promise<Identity> => {
    const first = await authenticateOnce(token)
    // Another request may have started the verification of this token before a revocation that precedes this request.
    const latest = isRevoked(first) ? await authenticateOnce(token) : first
    if (!isRevoked(latest) && isLive()) verified.set(header, latest)
    return latest.identity
  }

  return (request: FastifyRequest, _reply: FastifyReply, done: Done) => {
    if (hasTwoTokens(request.raw.rawHeaders)) return done(authorizationRepeatedError())
    const header = request.headers.authorization ?? ''
    const known = verified.get(header)
    if (
      known !== undefined &&
      known.identity.expiresAt > Date.now() / 1_000 &&
      !isRevoked(known) &&
      isLive()
    ) {
      request.identity = known.identity
      return done()
    }
    const token = BEARER.exec(header)?.[1]
    if (token === undefined) return done(authenticationRequiredError())
    verify(header, token).then(
      identity => {
        request.identity = identity
        done()
      },
      (error: Error) => done(error)
    )
  }
}

/** Node drops all but the first Authorization header, while a proxy may have checked another (RFC 6750, section 3.1). */
function hasTwoTokens(rawHeaders: readonly string[]): boolean {
  let found = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    if (name.length === AUTHORIZATION.length && name.toLowerCase() === AUTHORIZATION) found += 1
  }
  return found > 1
}

/** Rejects API keys: on the secured tier unless `allowsApiKeys`, on the admin tier if `isUsersOnly`. */
export function rejectDisallowedApiKey(request: FastifyRequest, _reply: FastifyReply, done: Done): void {
  const isMachine = identityOf(request).apiKeyId !== undefined
  done(isMachine && !request.routeOptions.config.allowsApiKeys ? userRequiredError() : undefined)
}

/** Rejects administrators without the required second factor, unless the route has `beforeEnrolment`. */
export function requireSecondFactorOfAdmin(request: FastifyRequest, _reply: FastifyReply, done: Done): void {
  const isOpen = !identityOf(request).lacksSecondFactor || request.routeOptions.config.beforeEnrolment
  done(isOpen ? undefined : secondFactorMissingError())
}

export function requireAdmin(request: FastifyRequest, _reply: FastifyReply, done: Done): void {
  done(identityOf(request).role === 'admin' ? undefined : adminRequiredError())
}

/** Requires the scope with the name of the module that mounted the route. */
export function requireScope(request: FastifyRequest, _reply: FastifyReply, done: Done): void {
  const { scopes } = identityOf(request)
  const { owner, requiresFullAccess, anyScope } = request.routeOptions.config
  const scope = requiresFullAccess ? undefined : owner
  const isAllowed = anyScope || scopes === null || (scope !== undefined && scopes.includes(scope))
  done(isAllowed ? undefined : scopeMissingError({ details: { scope: scope ?? null } }))
}
