import type { KeyObject } from 'node:crypto'
import type { CryptoKey } from 'jose'
import { invalidAccessTokenError } from '../errors.ts'
import type { JwtClaims, ParsedJwt } from './parse.ts'

/** Required properties of an issuer's tokens, from the settings and not from the token. */
export type JwtRequirements = { issuer: string; audience: string; algorithms: string[] }
export type VerifiedJwtClaims = JwtClaims & { readonly sub: string; readonly exp: number }
/** The caller of a verified token. After `expiresAt`, in seconds since 1970, it has to be verified again. */
export type VerifiedTokenIdentity = {
  userId: string
  role: 'customer' | 'admin'
  scopes: readonly string[] | null
  sessionId: string | null
  apiKeyId?: string
  /** When the user logged in with all factors, in seconds since 1970; absent if unknown. */
  authenticatedAt?: number
  hasSecondFactor: boolean
  expiresAt: number
}

/** Imports the library with the first token, because it takes 25 ms. */
export const loadJoseLibrary = () => import('jose')

/** Tolerance for clocks of issuers that are ahead. */
export const CLOCK_LEEWAY_SECONDS = 60
const SUBJECT_LENGTH_MAX = 255 // OpenID Connect Core, section 2
// A verification is cached for a minute. Then the session and the user are checked again.
const VERIFICATION_SECONDS = 60

/** Verifies signature, algorithm, issuer, audience and times. @throws `AUTH_INVALID_TOKEN`. */
export async function verifyAccessToken(
  { text }: ParsedJwt,
  key: KeyObject | CryptoKey,
  expected: JwtRequirements
): Promise<VerifiedJwtClaims> {
  const options = { ...expected, clockTolerance: CLOCK_LEEWAY_SECONDS }
  const { jwtVerify } = await loadJoseLibrary()
  const { payload } = await jwtVerify(text, key, options).catch((cause: unknown) => {
    throw invalidAccessTokenError({ cause })
  })
  const { sub, exp, iat } = payload
  if (!isSubject(sub) || exp === undefined) throw invalidAccessTokenError()
  if (iat !== undefined && !(typeof iat === 'number' && iat <= nowSeconds() + CLOCK_LEEWAY_SECONDS))
    throw invalidAccessTokenError()
  return { ...payload, sub, exp }
}

const isSubject = (sub: unknown): sub is string =>
  typeof sub === 'string' &&
  sub.trim() !== '' &&
  sub.length <= SUBJECT_LENGTH_MAX &&
  sub.isWellFormed() &&
  !sub.includes('\0')

const nowSeconds = (): number => Date.now() / 1_000

/** Returns until when a verification may be cached. */
export const verifiedTokenCacheExpiryOf = (exp: number): number =>
  Math.min(exp, nowSeconds() + VERIFICATION_SECONDS)
