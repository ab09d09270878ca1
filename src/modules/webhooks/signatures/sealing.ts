import type { Secrets } from '../../../platform/secrets/secrets.ts'

const PURPOSE = 'webhooks.endpoint_secret'

/** Secrets of endpoints as they lie in the database. */
export const createSealing = (secrets: Pick<Secrets, 'seal' | 'open'>) => ({
  seal: (secret: string): Buffer => secrets.seal(PURPOSE, Buffer.from(secret)),
  /** @throws Error when the key that it was sealed with is not there any more. */
  open: (sealed: Buffer): string => {
    const secret = secrets.open(PURPOSE, sealed)
    if (secret === undefined)
      throw new Error('the secret cannot be read: the key of secrets.keys that sealed it is gone; rotate it')
    return secret.toString()
  }
})
export type Sealing = ReturnType<typeof createSealing>
