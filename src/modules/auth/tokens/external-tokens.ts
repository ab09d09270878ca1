import { parseEmail } from '../../../kernel/email.ts'
import { invalidToken } from '../errors.ts'
import type { AuthSettings } from '../settings.ts'
import type { IssuerKeys } from './issuer-keys.ts'
import type { Claims, ParsedToken } from './parse.ts'
import { LEEWAY_SECONDS, verifyToken } from './verify.ts'

export type IssuerSettings = AuthSettings['issuers'][number]
/** Somebody as another issuer knows them. The e-mail address is only to be shown. */
export type ExternalCaller = {
  issuer: string
  subject: string
  email: string | null
  name: string | null
  isAdmin: boolean
  /** What an administrator may look after; `null`: everything. */
  scopes: string[] | null
  exp: number
  /** Whether `acr` or `amr` has a value that the settings name. */
  hasSecondFactor: boolean
  /** `auth_time` of OpenID Connect: when the person logged in there. */
  authenticatedAt?: number
}

const NAME_LENGTH_MAX = 200
const ACCESS_TOKEN_TYPES = new Set([undefined, 'jwt', 'at+jwt', 'application/at+jwt'])
const ID_TOKEN_CLAIMS = ['nonce', 'at_hash', 'c_hash']

/** Reads the access tokens of one other issuer, by its own settings only. */
export function createExternalTokens(settings: IssuerSettings, keyFor: IssuerKeys) {
  const expected = {
    issuer: settings.issuer,
    audience: settings.audience,
    algorithms: [...(settings.algorithms ?? ['RS256'])] as string[]
  }

  return async function verify(token: ParsedToken): Promise<ExternalCaller> {
    const { header } = token
    // Before anybody is asked for a key: a token that could never be good is not a reason to.
    if (!expected.algorithms.includes(header.alg)) throw invalidToken()
    if (!ACCESS_TOKEN_TYPES.has(header.typ?.toLowerCase())) throw invalidToken()
    const key = await keyFor(header)
    const claims = await verifyToken(token, key, expected)
    if (isOtherToken(claims)) throw invalidToken()
    const isAdmin = settings.admin_claim !== undefined && hasClaim(claims, settings.admin_claim)
    return {
      issuer: settings.issuer,
      subject: claims.sub,
      email: typeof claims.email === 'string' ? (parseEmail(claims.email) ?? null) : null,
      name: nameOf(claims),
      isAdmin,
      scopes: isAdmin && settings.scopes_claim !== undefined ? scopesIn(claims, settings.scopes_claim) : null,
      exp: claims.exp,
      hasSecondFactor: hasSecondFactor(claims, settings.second_factor),
      ...authTimeOf(claims)
    }
  }
}
export type ExternalTokens = ReturnType<typeof createExternalTokens>

/**
 * Whether this is an ID or refresh token, by the marks that issuers leave on them: an ID token is meant for a client
 * and proves nothing here. `typ` as a claim is Keycloak's, `token_use` Cognito's.
 */
function isOtherToken(claims: Claims): boolean {
  const { typ = 'Bearer', token_use: use = 'access' } = claims
  return typ !== 'Bearer' || use !== 'access' || ID_TOKEN_CLAIMS.some(name => Object.hasOwn(claims, name))
}

/** A time in the future would be recent for as long as the issuer likes: it is ignored. */
const authTimeOf = ({ auth_time }: Claims): { authenticatedAt?: number } =>
  typeof auth_time === 'number' && auth_time <= Date.now() / 1_000 + LEEWAY_SECONDS
    ? { authenticatedAt: auth_time }
    : {}

/** Whether the issuer says so by `acr` or `amr` (OpenID Connect Core, section 2); never without configured values. */
function hasSecondFactor({ acr, amr }: Claims, values: IssuerSettings['second_factor'] = {}): boolean {
  const isAmong = (wanted: readonly unknown[] | undefined, given: unknown) =>
    [given].flat().some(each => wanted?.includes(each) === true)
  return isAmong(values.acr, acr) || isAmong(values.amr, amr)
}

/** Whether the claim at `path` (a name, or names joined by dots) is `value` or a list that contains it. */
export function hasClaim(claims: Claims, { path, value }: { path: string; value: string }): boolean {
  const found = claimOf(claims, path)
  return Array.isArray(found) ? found.includes(value) : found === value
}

/** The scopes that the claim at `path` lists, as a list or as words; none where there is no such claim. */
export function scopesIn(claims: Claims, path: string): string[] {
  const found = claimOf(claims, path)
  const words = typeof found === 'string' ? found.split(' ') : found
  return Array.isArray(words) ? words.filter(word => typeof word === 'string' && word !== '') : []
}

const claimOf = (claims: Claims, path: string): unknown =>
  Object.hasOwn(claims, path) ? claims[path] : claimAt(claims, path.split('.'))

function claimAt(claims: Claims, path: readonly string[]): unknown {
  let found: unknown = claims
  for (const name of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined
    found = (found as Claims)[name]
  }
  return found
}

function nameOf({ name }: Claims): string | null {
  const isShowable =
    typeof name === 'string' && name !== '' && name.isWellFormed() && !/[\u0000-\u001f\u007f]/.test(name)
  return isShowable ? name.slice(0, NAME_LENGTH_MAX).toWellFormed() : null
}
