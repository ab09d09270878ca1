import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { testKey, testSecrets } from '../../../test/support/secrets.ts'
import { loadSecrets } from './open.ts'
import { createSecretsFromKeys, findSecretKeyProblems } from './secrets.ts'

const plain = Buffer.from('a private key')

describe('encrypted data', () => {
  test('encrypted data is decrypted again, and differs at each encryption', () => {
    const secrets = testSecrets()
    const [one, other] = [secrets.seal('a', plain), secrets.seal('a', plain)]
    expect(secrets.open('a', one)).toEqual(plain)
    expect(secrets.open('a', other)).toEqual(plain)
    expect(one.equals(other)).toBe(false)
    expect(one.includes(plain)).toBe(false)
    expect(secrets.open('a', secrets.seal('a', Buffer.alloc(0)))).toEqual(Buffer.alloc(0))
  })

  test('data encrypted for one purpose cannot be decrypted for another', () => {
    const secrets = testSecrets()
    expect(secrets.open('b', secrets.seal('a', plain))).toBeUndefined()
  })

  test('encrypted data is decrypted while its replaced key is configured, and not with another key of the same name', () => {
    const sealed = testSecrets('old').seal('a', plain)
    expect(testSecrets('new', 'old').open('a', sealed)).toEqual(plain)
    expect(testSecrets('new').open('a', sealed)).toBeUndefined()
    expect(createSecretsFromKeys([testKey('old', 'x')]).open('a', sealed)).toBeUndefined()
    expect(testSecrets('new').keyIdOf(sealed)).toBe('old')
    expect(testSecrets('new', 'old').keyIdOf(testSecrets('new', 'old').seal('a', plain))).toBe('new')
  })

  test('encrypted data with any byte changed or cut off is not decrypted', () => {
    const secrets = testSecrets()
    const sealed = secrets.seal('a', plain)
    for (let index = 0; index < sealed.length; index += 1) {
      const changed = Buffer.from(sealed)
      changed[index] = (changed[index] as number) ^ 1
      expect(secrets.open('a', changed)).toBeUndefined()
      expect(secrets.open('a', sealed.subarray(0, index))).toBeUndefined()
    }
  })
})

describe('a MAC', () => {
  test('a MAC is equal for equal parts, and differs for all others', () => {
    const { mac } = testSecrets()
    expect(mac('a', 'x', 'y')).toBe(mac('a', 'x', 'y'))
    const others = [
      mac('b', 'x', 'y'),
      mac('a', 'xy'),
      mac('a', 'x', 'y', ''),
      mac('a', 'x","y'),
      testSecrets('other').mac('a', 'x', 'y')
    ]
    expect(others).not.toContain(mac('a', 'x', 'y'))
    expect(mac('a', 'x')).toMatch(/^test\.[\w-]{43}$/)
  })

  test('a MAC made with any current key is verified, and any other MAC is rejected', () => {
    const old = testSecrets('old').mac('a', 'x')
    const both = testSecrets('new', 'old')
    expect(both.verify(old, 'a', 'x')).toBe(true)
    expect(both.verify(both.mac('a', 'x'), 'a', 'x')).toBe(true)
    expect(both.everyMac('a', 'x')).toEqual([both.mac('a', 'x'), old])
    expect(testSecrets('new').verify(old, 'a', 'x')).toBe(false)
    expect(both.verify(old, 'a', 'y')).toBe(false)
    expect(both.verify(old, 'b', 'x')).toBe(false)
    for (const wrong of ['', '.', 'old.', 'old', `${old}a`, old.slice(0, -1), old.replace('old', 'new')])
      expect(both.verify(wrong, 'a', 'x')).toBe(false)
  })
})

describe('keys', () => {
  test('secret keys are base64 or hex of at least 32 bytes, and a short one is rejected without being shown', () => {
    const hex = Buffer.alloc(32, 'k').toString('hex')
    const base64 = Buffer.alloc(32, 'k').toString('base64')
    expect(createSecretsFromKeys([{ id: 'k', key: hex }]).mac('a')).toBe(
      createSecretsFromKeys([{ id: 'k', key: base64 }]).mac('a')
    )
    const short = Buffer.alloc(31, 'k').toString('base64')
    expect(() => createSecretsFromKeys([{ id: 'k1', key: short }])).toThrow(/key k1 is shorter.*openssl rand/)
    expect(() => createSecretsFromKeys([{ id: 'k1', key: short }])).not.toThrow(short)
  })

  test('two secret keys of the same name are rejected', () => {
    expect(() => testSecrets('a', 'b', 'a')).toThrow(/a is there twice/)
  })
})

describe('the secrets of a shop', () => {
  async function useFolder() {
    const folder = await mkdtemp(join(tmpdir(), 'cartwright-secrets-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    return folder
  }
  const settings = (data: string, over: object = {}) => ({
    data,
    environment: 'development' as const,
    database: { url: '' },
    secrets: { keys: [] },
    ...over
  })

  test('the secrets of a shop are created once in a file of the data folder that only its owner can read', async () => {
    const data = join(await useFolder(), 'new', 'data')
    const mac = loadSecrets(settings(data)).mac('a')
    expect(loadSecrets(settings(data)).mac('a')).toBe(mac)
    expect((await stat(join(data, 'secrets'))).mode & 0o777).toBe(0o600)
    expect(await readdir(data)).toEqual(['secrets'])
    expect(loadSecrets(settings(await useFolder())).mac('a')).not.toBe(mac)
  })

  test('the secrets are created in development with an external database, and in production with the embedded one', async () => {
    const url = 'postgres://shop.example/shop'
    loadSecrets(settings(await useFolder(), { database: { url } }))
    loadSecrets(settings(await useFolder(), { environment: 'production' }))
  })

  test('the secrets must be configured in production with an external database', () => {
    const needs = (isProduction: boolean, databaseUrl: string, keys = [testKey('k1')]) =>
      findSecretKeyProblems(keys, { isProduction, databaseUrl }).map(({ message }) => message)
    const url = 'postgres://shop.example/shop'
    expect(needs(true, url, [])).toEqual([expect.stringMatching(/SECRETS__KEYS=.*openssl rand -base64 32/)])
    for (const right of [needs(true, url), needs(false, url, []), needs(true, '', [])])
      expect(right).toEqual([])
  })

  test.each(['', '{', '[]', '[{}]', 'null'])(
    'a secrets file with %j prevents the start and is kept',
    async text => {
      const data = await useFolder()
      await writeFile(join(data, 'secrets'), text)
      expect(() => loadSecrets(settings(data))).toThrow(/secrets is damaged: restore it/)
      expect(await readFile(join(data, 'secrets'), 'utf8')).toBe(text)
    }
  )

  test('a folder in which the secrets file cannot be used prevents the start with one sentence', () => {
    expect(() => loadSecrets(settings('/proc/nope'))).toThrow(
      /\/proc\/nope\/secrets cannot be used.*CARTWRIGHT_DATA/
    )
  })
})
