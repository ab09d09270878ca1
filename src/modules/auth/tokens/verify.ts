import type { KeyObject } from 'node:crypto'
import type { CryptoKey } from 'jose'
import { invalidToken } from '../errors.ts'
import type { Claims, ParsedToken } from './parse.ts'

/** What a token of one issuer has to be. Nothing of it is taken from the token. */
export type Expected = { issuer: string; audience: string; algorithms: string[] }
export type VerifiedClaims = Claims & { readonly sub: string; readonly exp: number }
/** Who a verified token speaks for; `expiresAt` (seconds since 1970) is when it has to be verified again. */
export type Verified = {
  userId: string
  role: 'customer' | 'admin'
  scopes: readonly string[] | null
  sessionId: string | null
  apiKeyId?: string
  /** When all factors were proved, in seconds since 1970; absent where that is not known. */
  authenticatedAt?: number
  hasSecondFactor: boolean
  expiresAt: number
}

/** The library is loaded with the first token, not at start: 25 ms. */
export const jose = () => import('jose')

/** How far the clock of an issuer may be ahead. */
export const LEEWAY_SECONDS = 60
const SUBJECT_LENGTH_MAX = 255 // OpenID Connect Core, section 2
// A verified token is believed for a minute; then whether its session or user still exists is asked again.
const BELIEVED_SECONDS = 60

/** Signature, algorithm, issuer, audience and times. @throws `AUTH_INVALID_TOKEN` when any of them is not right. */
export async function verifyToken(
  { text }: ParsedToken,
  key: KeyObject | CryptoKey,
  expected: Expected
): Promise<VerifiedClaims> {
  const options = { ...expected, clockTolerance: LEEWAY_SECONDS }
  const { jwtVerify } = await jose()
  const { payload } = await jwtVerify(text, key, options).catch((cause: unknown) => {
    throw invalidToken({ cause })
  })
  const { sub, exp, iat } = payload
  if (!isSubject(sub) || exp === undefined) throw invalidToken()
  if (iat !== undefined && !(typeof iat === 'number' && iat <= nowSeconds() + LEEWAY_SECONDS))
    throw invalidToken()
  return { ...payload, sub, exp }
}

const isSubject = (sub: unknown): sub is string =>
  typeof sub === 'string' &&
  sub.trim() !== '' &&
  sub.length <= SUBJECT_LENGTH_MAX &&
  sub.isWellFormed() &&
  !sub.includes('\0')

const nowSeconds = (): number => Date.now() / 1_000

/** Until when what was found out about a token may be remembered. */
export const believedUntil = (exp: number): number => Math.min(exp, nowSeconds() + BELIEVED_SECONDS)
