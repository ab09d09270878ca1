import type { Secrets } from '../../../platform/secrets/secrets.ts'

/** What a token allows: to verify an e-mail address, or to set the account's password. */
export type OneTimeTokenPurpose = 'email' | 'password'

// The prefix lets people and secret scanners recognize a token.
const KINDS = {
  email: { prefix: 'evt_', mac: 'auth.email_token' },
  password: { prefix: 'prt_', mac: 'auth.password_token' }
} as const
const BODY = /^(evt_|prt_)([\w-]{22})\.(.{1,100})$/

/**
 * Writes and reads tokens for mails: an id and a MAC for the purpose. The id alone, from the database or an event, is not
 * enough to make a token.
 */
export function createOneTimeTokenCodec(secrets: Secrets) {
  return {
    textOf(purpose: OneTimeTokenPurpose, id: string): string {
      const { prefix, mac } = KINDS[purpose]
      const body = Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url')
      return `${prefix}${body}.${secrets.mac(mac, body)}`
    },

    /** Returns the id in an authentic token of this purpose; `undefined` for any other text. */
    idIn(purpose: OneTimeTokenPurpose, text: string): string | undefined {
      const [, prefix, body = '', proof = ''] = BODY.exec(text) ?? []
      if (prefix !== KINDS[purpose].prefix || !secrets.verify(proof, KINDS[purpose].mac, body))
        return undefined
      return Buffer.from(body, 'base64url')
        .toString('hex')
        .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
    }
  }
}
