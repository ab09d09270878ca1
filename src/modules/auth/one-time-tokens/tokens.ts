import type { Secrets } from '../../../platform/secrets/secrets.ts'

/** What somebody who shows a token has shown: that they read an address, and may set its account's password. */
export type TokenPurpose = 'email' | 'password'

// People and secret scanners recognise a token by its prefix.
const KINDS = {
  email: { prefix: 'evt_', mac: 'auth.email_token' },
  password: { prefix: 'prt_', mac: 'auth.password_token' }
} as const
const BODY = /^(evt_|prt_)([\w-]{22})\.(.{1,100})$/

/**
 * Tokens that are sent by e-mail: an id, and the proof that we made it for this purpose. Whoever knows the id alone, from
 * the database or an event, knows no token.
 */
export function createTokenText(secrets: Secrets) {
  return {
    textOf(purpose: TokenPurpose, id: string): string {
      const { prefix, mac } = KINDS[purpose]
      const body = Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url')
      return `${prefix}${body}.${secrets.mac(mac, body)}`
    },

    /** The id in a token of this purpose that we made; `undefined` for every other text. */
    idIn(purpose: TokenPurpose, text: string): string | undefined {
      const [, prefix, body = '', proof = ''] = BODY.exec(text) ?? []
      if (prefix !== KINDS[purpose].prefix || !secrets.verify(proof, KINDS[purpose].mac, body))
        return undefined
      return Buffer.from(body, 'base64url')
        .toString('hex')
        .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
    }
  }
}
