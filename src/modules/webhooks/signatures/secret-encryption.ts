import type { Secrets } from '../../../platform/secrets/secrets.ts'

const PURPOSE = 'webhooks.endpoint_secret'

/** Encrypts the signing secrets of endpoints for the database. */
export const createWebhookSecretEncryption = (secrets: Pick<Secrets, 'seal' | 'open'>) => ({
  encrypt: (secret: string): Buffer => secrets.seal(PURPOSE, Buffer.from(secret)),
  /** @throws Error when the key that encrypted the secret was removed from `secrets.keys` */
  decrypt: (encrypted: Buffer): string => {
    const secret = secrets.open(PURPOSE, encrypted)
    if (secret === undefined)
      throw new Error(
        'the webhook secret cannot be decrypted: its key is not in secrets.keys; rotate the secret'
      )
    return secret.toString()
  }
})
export type WebhookSecretEncryption = ReturnType<typeof createWebhookSecretEncryption>
