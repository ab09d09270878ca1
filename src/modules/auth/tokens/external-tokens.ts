import { parseEmail } from '../../../kernel/email.ts'
import { invalidAccessTokenError } from '../errors.ts'
import type { AuthSettings } from '../settings.ts'
import type { LoadIssuerKey } from './issuer-keys.ts'
import type { JwtClaims, ParsedJwt } from './parse.ts'
import { CLOCK_LEEWAY_SECONDS, verifyAccessToken } from './verify.ts'

export type ExternalIssuerSettings = AuthSettings['issuers'][number]
/** A user of an external issuer. The e-mail address is for display only. */
export type ExternalIssuerUser = {
  issuer: string
  subject: string
  email: string | null
  name: string | null
  isAdmin: boolean
  /** Modules that an administrator may manage; `null`: all. */
  scopes: string[] | null
  exp: number
  /** Whether `acr` or `amr` has a configured value. */
  hasSecondFactor: boolean
  /** `auth_time` of OpenID Connect: when the user logged in at the issuer. */
  authenticatedAt?: number
}

const NAME_LENGTH_MAX = 200
const ACCESS_TOKEN_TYPES = new Set([undefined, 'jwt', 'at+jwt', 'application/at+jwt'])
const ID_TOKEN_CLAIMS = ['nonce', 'at_hash', 'c_hash']

/** Verifies access tokens of one external issuer, by its settings only. */
export function createExternalTokenVerifier(settings: ExternalIssuerSettings, keyFor: LoadIssuerKey) {
  const expected = {
    issuer: settings.issuer,
    audience: settings.audience,
    algorithms: [...(settings.algorithms ?? ['RS256'])] as string[]
  }

  return async function verify(token: ParsedJwt): Promise<ExternalIssuerUser> {
    const { header } = token
    // The header is checked before the key is fetched, so that a token that cannot be valid causes no
    // request.
    if (!expected.algorithms.includes(header.alg)) throw invalidAccessTokenError()
    if (!ACCESS_TOKEN_TYPES.has(header.typ?.toLowerCase())) throw invalidAccessTokenError()
    const key = await keyFor(header)
    const claims = await verifyAccessToken(token, key, expected)
    if (isOtherToken(claims)) throw invalidAccessTokenError()
    const isAdmin = settings.admin_claim !== undefined && hasTokenClaimValue(claims, settings.admin_claim)
    return {
      issuer: settings.issuer,
      subject: claims.sub,
      email: typeof claims.email === 'string' ? (parseEmail(claims.email) ?? null) : null,
      name: nameOf(claims),
      isAdmin,
      scopes:
        isAdmin && settings.scopes_claim !== undefined
          ? readScopesClaim(claims, settings.scopes_claim)
          : null,
      exp: claims.exp,
      hasSecondFactor: hasSecondFactor(claims, settings.second_factor),
      ...authTimeOf(claims)
    }
  }
}
export type VerifyExternalToken = ReturnType<typeof createExternalTokenVerifier>

/**
 * Whether this is an ID or refresh token. An ID token is meant for a client and grants no access to an API. The claim `typ`
 * comes from Keycloak, `token_use` from Cognito.
 */
function isOtherToken(claims: JwtClaims): boolean {
  const { typ = 'Bearer', token_use: use = 'access' } = claims
  return typ !== 'Bearer' || use !== 'access' || ID_TOKEN_CLAIMS.some(name => Object.hasOwn(claims, name))
}

/** Ignores a time in the future, which would make the login look recent for too long. */
const authTimeOf = ({ auth_time }: JwtClaims): { authenticatedAt?: number } =>
  typeof auth_time === 'number' && auth_time <= Date.now() / 1_000 + CLOCK_LEEWAY_SECONDS
    ? { authenticatedAt: auth_time }
    : {}

/** Whether `acr` or `amr` (OpenID Connect Core, section 2) has a configured value. */
function hasSecondFactor(
  { acr, amr }: JwtClaims,
  values: ExternalIssuerSettings['second_factor'] = {}
): boolean {
  const isAmong = (accepted: readonly unknown[] | undefined, given: unknown) =>
    [given].flat().some(each => accepted?.includes(each) === true)
  return isAmong(values.acr, acr) || isAmong(values.amr, amr)
}

/** Whether the claim at `path` (a name, or names joined by dots) is `value` or a list that contains it. */
export function hasTokenClaimValue(
  claims: JwtClaims,
  { path, value }: { path: string; value: string }
): boolean {
  const found = claimOf(claims, path)
  return Array.isArray(found) ? found.includes(value) : found === value
}

/** Returns the scopes in the claim at `path`, a list or a string of words; empty without the claim. */
export function readScopesClaim(claims: JwtClaims, path: string): string[] {
  const found = claimOf(claims, path)
  const words = typeof found === 'string' ? found.split(' ') : found
  return Array.isArray(words) ? words.filter(word => typeof word === 'string' && word !== '') : []
}

const claimOf = (claims: JwtClaims, path: string): unknown =>
  Object.hasOwn(claims, path) ? claims[path] : claimAt(claims, path.split('.'))

function claimAt(claims: JwtClaims, path: readonly string[]): unknown {
  let found: unknown = claims
  for (const name of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined
    found = (found as JwtClaims)[name]
  }
  return found
}

function nameOf({ name }: JwtClaims): string | null {
  const isShowable =
    typeof name === 'string' && name !== '' && name.isWellFormed() && !/[\u0000-\u001f\u007f]/.test(name)
  return isShowable ? name.slice(0, NAME_LENGTH_MAX).toWellFormed() : null
}
