import { randomBytes } from 'node:crypto'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import { hashSecret } from '../passwords/random-secrets.ts'

export type RefreshToken = { text: string; sessionId: string; hash: Buffer }

const PREFIX = 'rt_' // people and secret scanners recognise a token by it
const SECRET_BYTES = 32
const ID_BYTES = 16
const TOKEN = /^rt_([\w-]{64})\.([\w-]{1,32}\.[\w-]{43})$/
const PROOF = 'auth.refresh_token'
const SUCCESSION = 'auth.refresh_token.next'

/**
 * A refresh token is its session's id, 256 secret bits, and the proof that we made it. What follows it is computed from
 * it, so whoever shows the same one again can be given the same successor, which lies nowhere. The proof tells an old
 * token of ours from what somebody made up, without a table of all old ones.
 */
export function createRefreshTokens(secrets: Secrets) {
  const withProof = (body: string, proof: string): RefreshToken =>
    tokenOf(`${PREFIX}${body}.${proof}`, idOf(body))
  const bodyOf = (sessionId: string, secret: Buffer) =>
    Buffer.concat([Buffer.from(sessionId.replaceAll('-', ''), 'hex'), secret]).toString('base64url')

  return {
    /** The first one of a session. */
    first(sessionId: string): RefreshToken {
      const body = bodyOf(sessionId, randomBytes(SECRET_BYTES))
      return withProof(body, secrets.mac(PROOF, body))
    },

    /** Taken apart, and not proved; `undefined` when it never was one. */
    read(text: string): RefreshToken | undefined {
      const body = TOKEN.exec(text)?.[1]
      return body === undefined ? undefined : tokenOf(text, idOf(body))
    },

    /** What follows this token under each of our secrets; the first one is what is handed out now. */
    successors({ text, sessionId }: RefreshToken): readonly [RefreshToken, ...RefreshToken[]] {
      const macs = secrets.everyMac(SUCCESSION, text)
      return macs.map((mac, index) => {
        const body = bodyOf(sessionId, Buffer.from(mac.slice(mac.indexOf('.') + 1), 'base64url'))
        return withProof(body, secrets.everyMac(PROOF, body)[index] as string)
      }) as [RefreshToken, ...RefreshToken[]]
    },

    isOurs({ text }: RefreshToken): boolean {
      const [, body = '', proof = ''] = TOKEN.exec(text) ?? []
      return secrets.verify(proof, PROOF, body)
    }
  }
}

const tokenOf = (text: string, sessionId: string): RefreshToken => ({
  text,
  sessionId,
  hash: hashSecret(text)
})

const idOf = (body: string): string =>
  Buffer.from(body, 'base64url')
    .toString('hex', 0, ID_BYTES)
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
