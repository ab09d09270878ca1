import { createSecretsFromKeys } from '../../src/platform/secrets/secrets.ts'

export const testKey = (id: string, byte = id) => ({ id, key: Buffer.alloc(32, byte).toString('base64') })

/** Secrets as a setting, so that tests make no file of them. */
export const SECRET_SETTINGS = { CARTWRIGHT__SECRETS__KEYS: JSON.stringify([testKey('test')]) }

export const testSecrets = (...ids: string[]) =>
  createSecretsFromKeys((ids.length === 0 ? ['test'] : ids).map(id => testKey(id)))
