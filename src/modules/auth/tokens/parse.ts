import { invalidAccessTokenError } from '../errors.ts'

export type JwtHeader = { alg: string; kid: string; typ?: string }
export type JwtClaims = { readonly [name: string]: unknown }
/** A parsed, unverified token. */
export type ParsedJwt = { text: string; header: JwtHeader; claims: JwtClaims }

const TOKEN_BYTES_MAX = 8_192
// Header members by which a token supplies the key or rules for its own verification (RFC 7515, section 4.1).
const REFUSED_MEMBERS = ['crit', 'jku', 'jwk', 'x5u', 'x5c', 'b64', 'zip']

/** Parses a compact JWS strictly. @throws `AUTH_INVALID_TOKEN`. */
export function parseUnverifiedJwt(text: string): ParsedJwt {
  const parts = text.length <= TOKEN_BYTES_MAX ? text.split('.') : []
  const [header, claims] = parts
  if (parts.length !== 3 || !parts.every(isCanonical)) throw invalidAccessTokenError()
  return { text, header: readHeader(readObject(header as string)), claims: readObject(claims as string) }
}

/** Whether the part is canonical base64url: no padding, no other alphabet, no stray bits (RFC 4648, 3.5). */
const isCanonical = (part: string): boolean =>
  part !== '' && Buffer.from(part, 'base64url').toString('base64url') === part

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function readObject(part: string): JwtClaims {
  try {
    const value: unknown = JSON.parse(decoder.decode(Buffer.from(part, 'base64url')))
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JwtClaims
  } catch (cause) {
    throw invalidAccessTokenError({ cause })
  }
  throw invalidAccessTokenError()
}

function readHeader({ alg, kid, typ, ...others }: JwtClaims): JwtHeader {
  if (REFUSED_MEMBERS.some(member => Object.hasOwn(others, member))) throw invalidAccessTokenError()
  if (typeof alg !== 'string' || typeof kid !== 'string' || kid === '') throw invalidAccessTokenError()
  if (typ !== undefined && typeof typ !== 'string') throw invalidAccessTokenError()
  return typ === undefined ? { alg, kid } : { alg, kid, typ }
}
