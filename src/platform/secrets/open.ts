import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { OperatorError } from '../../kernel/errors.ts'
import type { Config } from '../core-settings.ts'
import { createFolder } from '../folder.ts'
import { createSecretsFromKeys, type SecretKey, type Secrets } from './secrets.ts'

const KEY_BYTES = 32
/**
 * Opens the secrets of this shop: those of the configuration, or one in a file of the data folder, created at the first start.
 * In production with an external database, several machines may share the shop but not the file, so `findSecretKeyProblems` rejects
 * that configuration.
 * @throws OperatorError when they cannot be used.
 */
export const loadSecrets = ({ secrets, data }: Pick<Config, 'secrets' | 'data'>): Secrets =>
  createSecretsFromKeys(secrets.keys.length > 0 ? secrets.keys : keysOfFile(data))

function keysOfFile(folder: string): readonly SecretKey[] {
  const path = join(folder, 'secrets')
  try {
    const content = read(path) ?? create(folder, path)
    const keys: unknown = JSON.parse(content)
    if (Array.isArray(keys) && keys.length > 0 && keys.every(isKey)) return keys
    throw new SyntaxError('no keys')
  } catch (cause) {
    if (cause instanceof SyntaxError)
      throw new OperatorError(
        `${path} is damaged: restore it from a backup, or remove it; every customer then has to log in again.`
      )
    throw new OperatorError(
      `${path} cannot be used (${(cause as Error).message}): let this user write the data folder, or set ` +
        'CARTWRIGHT_DATA to another one.',
      { cause }
    )
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Creates the key file atomically; when several processes start simultaneously, the first one wins. */
function create(folder: string, path: string): string {
  const key: SecretKey = {
    id: randomBytes(4).toString('hex'),
    key: randomBytes(KEY_BYTES).toString('base64')
  }
  createFolder(folder)
  const draft = `${path}.${process.pid}.${key.id}`
  const file = openSync(draft, 'wx', 0o600)
  try {
    writeSync(file, `${JSON.stringify([key])}\n`)
    fsyncSync(file)
    // A link fails when the name exists; a rename would overwrite it.
    linkSync(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    closeSync(file)
    rmSync(draft, { force: true })
  }
  return readFileSync(path, 'utf8')
}

const isKey = (value: unknown): value is SecretKey => {
  const { id, key } = (value ?? {}) as Partial<SecretKey>
  return typeof id === 'string' && typeof key === 'string'
}
