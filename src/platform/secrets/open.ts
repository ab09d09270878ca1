import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { OperatorError } from '../../kernel/errors.ts'
import { createFolder } from '../folder.ts'
import { createSecrets, type SecretKey, type Secrets } from './secrets.ts'

const KEY_BYTES = 32
/**
 * The secrets of this shop: those of the configuration, or else one in a file of the data folder, made at the first
 * start. In production with a database of its own several machines may share the shop, and a file would not be shared:
 * `secretProblems` refuses that configuration.
 * @throws OperatorError when they cannot be used.
 */
export const openSecrets = ({ secrets, data }: Pick<Config, 'secrets' | 'data'>): Secrets =>
  createSecrets(secrets.keys.length > 0 ? secrets.keys : keysOfFile(data))

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
        `${path} is damaged: bring it back from a backup, or remove it and everybody logs in again.`
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

/** Puts a new key there, whole or not at all; of several processes that start at once, one is the first. */
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
    // A link fails where a name is taken, which renaming would overwrite.
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
