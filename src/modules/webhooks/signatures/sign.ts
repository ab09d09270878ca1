import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32

/** A new secret, as its receiver is told it (Standard Webhooks: 24 to 64 random bytes). */
export const makeSecret = (): string => `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`

export type Signed = { readonly id: string; readonly seconds: number; readonly body: string }

/** `webhook-signature`: one of each secret, so that a receiver who knows any of them finds its own. */
export const signatureOf = (secrets: readonly string[], { id, seconds, body }: Signed): string =>
  secrets
    .map(secret => {
      const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
      return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`
    })
    .join(' ')
