import { expect, onTestFinished, test } from 'vitest'
import { testDatabaseOptions, useTestDatabaseUrl } from '../../../../test/support/database.ts'
import { testSecrets } from '../../../../test/support/secrets.ts'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import { runSql } from '../../../../test/support/sql.ts'
import type { Log } from '../../../platform/log.ts'
import { type Database, openDatabase } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import { createSigningKeyStore } from './signing-keys.ts'

shareShops()

/** Signing keys as several processes on one database see them. The database has no other keys. */
async function useKeys(processes: number, secrets = testSecrets()) {
  const url = await useTestDatabaseUrl()
  const sql = (text: string) => runSql(url, text)
  await sql('delete from auth.signing_keys')
  const databases = Array.from({ length: processes }, () => openDatabase(testDatabaseOptions(url)))
  onTestFinished(async () => {
    await Promise.all(databases.map(db => db.close()))
  })
  const warnings: unknown[] = []
  const log = { warn: (fields: unknown) => warnings.push(fields) } as unknown as Log
  const open = (db: Database | undefined, other = secrets) =>
    createSigningKeyStore({ db: db as Database, secrets: other, log })
  const keys = await Promise.all(databases.map(db => open(db)))
  const age = (days: number) =>
    sql(`update auth.signing_keys set created_at = created_at - interval '${days} days',
         signs_from = signs_from - interval '${days} days'`)
  /** Starts another process with these secrets. */
  const startWith = (other: Secrets) => open(databases[0], other)
  return {
    keys,
    sql,
    age,
    startWith,
    warnings,
    first: keys[0] as (typeof keys)[number],
    second: keys[1] as (typeof keys)[number]
  }
}
const kidsOf = (keys: { published(): { keys: { kid: string }[] } }) =>
  keys.published().keys.map(each => each.kid)

test('processes that start simultaneously agree on one key to sign tokens', async () => {
  const { keys } = await useKeys(6)
  expect(new Set(keys.map(each => each.signing().kid)).size).toBe(1)
  expect(keys.map(kidsOf).every(kids => kids.length === 1)).toBe(true)
})

test('a signing key is not replaced before it is ninety days old', async () => {
  const { first, age } = await useKeys(1)
  const { kid } = first.signing()
  await age(89)
  await first.refresh()
  expect(kidsOf(first)).toEqual([kid])
})

test('after ninety days one successor is published before it signs, and the old signing key stays valid', async () => {
  const { keys, first, second, sql, age } = await useKeys(4)
  const old = first.signing().kid
  await age(90)
  await Promise.all(keys.map(each => each.refresh()))
  await Promise.all(keys.map(each => each.refresh()))
  expect(kidsOf(first)).toHaveLength(2)
  expect(keys.map(each => each.signing().kid)).toEqual(keys.map(() => old))

  await sql(`update auth.signing_keys set signs_from = now() where signs_from > now()`)
  await Promise.all(keys.map(each => each.refresh()))
  const fresh = second.signing().kid
  expect(fresh).not.toBe(old)
  expect(kidsOf(first)).toEqual([fresh, old])
  expect(await first.publicKey(old)).toBeDefined()
})

test('a signing key is deleted when its last tokens have expired', async () => {
  const { first, sql, age } = await useKeys(1)
  const old = first.signing().kid
  await age(90)
  await first.refresh()
  await sql(`update auth.signing_keys set signs_from = now() - interval '47 hours' where kid <> '${old}'`)
  await first.refresh()
  expect(kidsOf(first)).toContain(old)
  await sql(`update auth.signing_keys set signs_from = now() - interval '48 hours' where kid <> '${old}'`)
  await first.refresh()
  expect(kidsOf(first)).not.toContain(old)
  expect(await first.publicKey(old)).toBeUndefined()
})

test('a signing key that another process created is found when a token names it', async () => {
  const { first, second, sql, age } = await useKeys(2)
  await age(90)
  await first.refresh()
  await sql(`update auth.signing_keys set signs_from = now() where signs_from > now()`)
  await first.refresh()
  const { kid } = first.signing()
  expect(kidsOf(second)).not.toContain(kid)
  const deadline = performance.now() + 10_000
  let found = await second.publicKey(kid)
  while (found === undefined && performance.now() < deadline) {
    await new Promise(resolve => setTimeout(resolve, 100))
    found = await second.publicKey(kid)
  }
  expect(found).toBeDefined()
})

test('the private parts of signing keys are not published', async () => {
  const { first } = await useKeys(1)
  expect(JSON.stringify(first.published())).not.toContain('"d"')
})

test('the private parts of signing keys are encrypted in the database', async () => {
  const { first, sql } = await useKeys(1)
  const [row] = await sql('select private_jwk, sealed from auth.signing_keys')
  expect(row.private_jwk).toBeNull()
  const { privateKey } = first.signing()
  expect(row.sealed.includes(privateKey.export({ format: 'der', type: 'pkcs8' }))).toBe(false)
  expect(
    row.sealed.includes(Buffer.from(privateKey.export({ format: 'jwk' }).d as string, 'base64url'))
  ).toBe(false)
})

test('an unencrypted signing key is encrypted at the next start and still signs', async () => {
  const { first, sql, startWith } = await useKeys(1)
  const { kid, privateKey } = first.signing()
  const jwk = JSON.stringify(privateKey.export({ format: 'jwk' }))
  await sql(`update auth.signing_keys set sealed = null, private_jwk = '${jwk}'`)
  const next = await startWith(testSecrets())
  expect(next.signing().kid).toBe(kid)
  expect(
    await sql('select kid from auth.signing_keys where sealed is null or private_jwk is not null')
  ).toEqual([])
  expect((await startWith(testSecrets())).signing().privateKey.equals(privateKey)).toBe(true)
})

test('signing keys are encrypted again with a new secret, so the old secret can be removed', async () => {
  const { first, startWith, warnings } = await useKeys(1, testSecrets('old'))
  const { kid } = first.signing()
  expect((await startWith(testSecrets('new', 'old'))).signing().kid).toBe(kid)
  expect((await startWith(testSecrets('new'))).signing().kid).toBe(kid)
  expect(warnings).toEqual([])
})

test('a signing key whose secret is missing is replaced by a new one, and the log names the secret', async () => {
  const { first, startWith, warnings } = await useKeys(1, testSecrets('lost'))
  const { kid } = first.signing()
  const next = await startWith(testSecrets('new'))
  expect(next.signing().kid).not.toBe(kid)
  expect(kidsOf(next)).toEqual([next.signing().kid])
  expect(await next.publicKey(kid)).toBeUndefined()
  expect(warnings).toEqual([{ secrets: ['lost'] }])
  // The process that has the secret continues with its own key.
  await first.refresh()
  expect(first.signing().kid).toBe(kid)
})

test('a signing key that was inserted without the secret is not used by any process', async () => {
  const { first, sql } = await useKeys(1)
  const { kid } = first.signing()
  const planted = testSecrets('thief').seal('auth.signing_keys', Buffer.from('key')).toString('hex')
  await sql(`insert into auth.signing_keys (kid, generation, sealed, signs_from)
             values ('planted', 9, '\\x${planted}', now())`)
  await first.refresh()
  expect(kidsOf(first)).toEqual([kid])
  expect(await first.publicKey('planted')).toBeUndefined()
})
