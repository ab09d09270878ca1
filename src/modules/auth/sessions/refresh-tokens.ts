import { randomBytes } from 'node:crypto'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import { hashSecret } from '../passwords/random-secrets.ts'

export type RefreshTokenWithHash = { text: string; sessionId: string; hash: Buffer }

const PREFIX = 'rt_' // lets people and secret scanners recognize a token
const SECRET_BYTES = 32
const ID_BYTES = 16
const TOKEN = /^rt_([\w-]{64})\.([\w-]{1,32}\.[\w-]{43})$/
const PROOF = 'auth.refresh_token'
const SUCCESSION = 'auth.refresh_token.next'

/**
 * Creates and reads refresh tokens: the session's id, 256 secret bits, and a MAC. The successor is derived from the token, so
 * a repeated token gets the same successor, which is not stored. The MAC distinguishes an old token from a forged one
 * without a table of old tokens.
 */
export function createRefreshTokens(secrets: Secrets) {
  const withProof = (body: string, proof: string): RefreshTokenWithHash =>
    tokenOf(`${PREFIX}${body}.${proof}`, idOf(body))
  const bodyOf = (sessionId: string, secret: Buffer) =>
    Buffer.concat([Buffer.from(sessionId.replaceAll('-', ''), 'hex'), secret]).toString('base64url')

  return {
    /** Creates the first token of a session. */
    first(sessionId: string): RefreshTokenWithHash {
      const body = bodyOf(sessionId, randomBytes(SECRET_BYTES))
      return withProof(body, secrets.mac(PROOF, body))
    },

    /** Parses a token without checking its MAC; `undefined` when the text is not a token. */
    read(text: string): RefreshTokenWithHash | undefined {
      const body = TOKEN.exec(text)?.[1]
      return body === undefined ? undefined : tokenOf(text, idOf(body))
    },

    /** Returns the successors of a token or challenge under each configured secret, the current secret first. */
    successors({
      text,
      sessionId
    }: Omit<RefreshTokenWithHash, 'hash'>): readonly [RefreshTokenWithHash, ...RefreshTokenWithHash[]] {
      const macs = secrets.everyMac(SUCCESSION, text)
      return macs.map((mac, index) => {
        const body = bodyOf(sessionId, Buffer.from(mac.slice(mac.indexOf('.') + 1), 'base64url'))
        return withProof(body, secrets.everyMac(PROOF, body)[index] as string)
      }) as [RefreshTokenWithHash, ...RefreshTokenWithHash[]]
    },

    isAuthentic({ text }: RefreshTokenWithHash): boolean {
      const [, body = '', proof = ''] = TOKEN.exec(text) ?? []
      return secrets.verify(proof, PROOF, body)
    }
  }
}

const tokenOf = (text: string, sessionId: string): RefreshTokenWithHash => ({
  text,
  sessionId,
  hash: hashSecret(text)
})

const idOf = (body: string): string =>
  Buffer.from(body, 'base64url')
    .toString('hex', 0, ID_BYTES)
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
