import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32

/** Returns a new signing secret in the format of Standard Webhooks: a prefix and 24 to 64 random bytes as base64. */
export const createWebhookSigningSecret = (): string =>
  `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`

export type WebhookContentToSign = {
  readonly id: string
  readonly timestampSeconds: number
  readonly body: string
}

/**
 * Returns the header `webhook-signature` of Standard Webhooks. It has one signature for each secret, so that a receiver that
 * knows either the old or the new secret can verify it.
 */
export function signWebhook(
  secrets: readonly string[],
  { id, timestampSeconds, body }: WebhookContentToSign
): string {
  const content = `${id}.${timestampSeconds}.${body}`
  return secrets
    .map(secret => {
      const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
      return `v1,${createHmac('sha256', key).update(content).digest('base64')}`
    })
    .join(' ')
}
