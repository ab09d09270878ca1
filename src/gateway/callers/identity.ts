import type { FastifyReply, FastifyRequest } from 'fastify'
import { defineError } from '../../kernel/errors.ts'
import { secondFactorMissing } from '../../kernel/logins.ts'
import { RecentMap } from '../../kernel/recent-map.ts'
import { scopeMissing } from '../../kernel/scopes.ts'
import { singleFlight } from '../../kernel/single-flight.ts'

/** Who is asking, as a verified token says. `expiresAt` in seconds since 1970. */
export type Identity = {
  readonly userId: string
  readonly role: 'customer' | 'admin'
  /** The modules whose administration this administrator may use; `null`: of all. */
  readonly scopes: readonly string[] | null
  /** The session behind a token of our own; `null` for tokens of other issuers. */
  readonly sessionId: string | null
  /** The API key behind a token of a machine. */
  readonly apiKeyId?: string
  /**
   * When the caller logged in with all their factors (`auth_time`), in seconds since 1970. Refreshing tokens does not change it.
   * Absent for API keys, and where the token of another issuer does not say.
   */
  readonly authenticatedAt?: number
  /** An administrator who needs a second factor in this shop, and logged in without one. */
  readonly lacksSecondFactor?: true
  readonly expiresAt: number
}
/** Verifies a bearer token. @throws `unauthenticated` for every token that is not good. */
export type Authenticate = (token: string) => Promise<Identity>

export const authenticationRequired = defineError(
  'unauthenticated',
  'AUTHENTICATION_REQUIRED',
  'This needs an access token: send it as "Authorization: Bearer <token>".'
)
const authorizationRepeated = defineError(
  'invalid',
  'AUTHORIZATION_REPEATED',
  'The header Authorization was sent more than once; send one access token.',
  { fault: { path: 'headers/authorization', message: 'must be sent once' } }
)
const adminRequired = defineError('forbidden', 'ADMIN_REQUIRED', 'This needs the role admin.')
const personRequired = defineError(
  'forbidden',
  'PERSON_REQUIRED',
  'This is for a person to do: the token of an API key does not open it.'
)

declare module 'fastify' {
  interface FastifyRequest {
    identity: Identity | null
  }
}

/** The caller of a secured or admin route. On the public tier there is none, and asking for it is a bug. */
export function identityOf(request: FastifyRequest): Identity {
  if (request.identity === null)
    throw new Error(`${request.routeOptions.url} asks for an identity on the public tier`)
  return request.identity
}

/** Announces users whose verified tokens must be checked again: a session ended, a role changed, they were disabled. */
export type Revocations = {
  subscribe(subscriber: { onRevoked(userId: string): void; onGap(): void }): void
  /** While it is false, revocations may be missed. */
  isLive(): boolean
}

type Verified = { identity: Identity; askedAt: number }

const VERIFIED_BYTES_MAX = 33_554_432
const IDENTITY_BYTES = 300 // of an entry beside its token
const REVOKED_MAX = 10_000
const AUTHORIZATION = 'authorization'
const BEARER = /^Bearer +([^\s]+) *$/i

type Done = (error?: Error) => void
/**
 * The check in front of the secured tier. A token that was verified before is taken from memory until it expires, which
 * costs nothing beside the 170 us of a signature (2026-11). Requests that arrive together with one that
 * was not are verified once: a page that sends a dozen at a time would pay a dozen signatures.
 *
 * An answer that was asked for before a revocation of its user does not count after it, and none is kept while
 * revocations may be missed.
 */
export function createIdentityCheck(authenticate: Authenticate, revocations?: Revocations) {
  /** By the header that brought it. */
  const verified = new RecentMap<Verified>(VERIFIED_BYTES_MAX, (_, header) => header.length + IDENTITY_BYTES)
  const verifyOnce = singleFlight<Verified>()
  const revokedAt = new Map<string, number>()
  let forgottenAt = Number.NEGATIVE_INFINITY

  const forgetAll = () => {
    forgottenAt = performance.now()
    verified.clear()
    revokedAt.clear()
  }
  revocations?.subscribe({
    onRevoked: userId => {
      if (revokedAt.size >= REVOKED_MAX) forgetAll()
      else revokedAt.set(userId, performance.now())
    },
    onGap: forgetAll
  })
  const isRevoked = ({ identity, askedAt }: Verified): boolean =>
    askedAt <= forgottenAt ||
    (revokedAt.size > 0 && askedAt <= (revokedAt.get(identity.userId) ?? Number.NEGATIVE_INFINITY))
  const isLive = () => revocations === undefined || revocations.isLive()

  const ask = (token: string): Promise<Verified> =>
    verifyOnce(token, async () => {
      const askedAt = performance.now()
      return { identity: await authenticate(token), askedAt }
    })
  const verify = async (header: string, token: string): Promise<Identity> => {
    const first = await ask(token)
    // It may have been asked for somebody else, before a revocation that this request came after.
    const answer = isRevoked(first) ? await ask(token) : first
    if (!isRevoked(answer) && isLive()) verified.set(header, answer)
    return answer.identity
  }

  return (request: FastifyRequest, _reply: FastifyReply, done: Done) => {
    if (hasTwoTokens(request.raw.rawHeaders)) return done(authorizationRepeated())
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
    if (token === undefined) return done(authenticationRequired())
    verify(header, token).then(
      identity => {
        request.identity = identity
        done()
      },
      (error: Error) => done(error)
    )
  }
}

/** Node keeps the first of two and drops the other one, which a proxy may have judged (RFC 6750, section 3.1). */
function hasTwoTokens(rawHeaders: readonly string[]): boolean {
  let found = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    if (name.length === AUTHORIZATION.length && name.toLowerCase() === AUTHORIZATION) found += 1
  }
  return found > 1
}

/** In front of the secured tier, and of what is `forPeople` on the admin tier. */
export function requirePerson(request: FastifyRequest, _reply: FastifyReply, done: Done): void {
  const isMachine = identityOf(request).apiKeyId !== undefined
  done(isMachine && !request.routeOptions.config.forMachines ? personRequired() : undefined)
}

/** In front of the secured and admin tiers: closed to administrators without a second factor, unless the route says `beforeEnrolment`. */
export function requireSecondFactor(request: FastifyRequest, _reply: FastifyReply, done: Done): void {
  const isOpen = !identityOf(request).lacksSecondFactor || request.routeOptions.config.beforeEnrolment
  done(isOpen ? undefined : secondFactorMissing())
}

/** In front of the admin tier. */
export function requireAdmin(request: FastifyRequest, _reply: FastifyReply, done: Done): void {
  done(identityOf(request).role === 'admin' ? undefined : adminRequired())
}

/** In front of each of its routes: the scope that has the name of the module that mounted it. */
export function requireScope(request: FastifyRequest, _reply: FastifyReply, done: Done): void {
  const { scopes } = identityOf(request)
  const { owner, wholeShop, anyScope } = request.routeOptions.config
  const scope = wholeShop ? undefined : owner
  const isAllowed = anyScope || scopes === null || (scope !== undefined && scopes.includes(scope))
  done(isAllowed ? undefined : scopeMissing({ details: { scope: scope ?? null } }))
}
