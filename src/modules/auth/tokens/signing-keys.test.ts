import { expect, onTestFinished, test } from 'vitest'
import { createTestDatabase, testDatabaseOptions } from '../../../../test/support/database.ts'
import { runSql } from '../../../../test/support/sql.ts'
import { openDatabase } from '../../../platform/postgres.ts'
import { createSigningKeys } from './signing-keys.ts'

/** Signing keys as several processes on one database see them. */
async function useKeys(processes: number) {
  const created = await createTestDatabase()
  const databases = Array.from({ length: processes }, () => openDatabase(testDatabaseOptions(created.url)))
  onTestFinished(async () => {
    await Promise.all(databases.map(db => db.close()))
    await created.drop()
  })
  const keys = await Promise.all(databases.map(db => createSigningKeys({ db })))
  const sql = (text: string) => runSql(created.url, text)
  const age = (days: number) =>
    sql(`update auth.signing_keys set created_at = created_at - interval '${days} days',
         signs_from = signs_from - interval '${days} days'`)
  return { keys, sql, age, first: keys[0] as (typeof keys)[number], second: keys[1] as (typeof keys)[number] }
}
const kidsOf = (keys: { published(): { keys: { kid: string }[] } }) =>
  keys.published().keys.map(each => each.kid)

test('processes that start at once agree on one key', async () => {
  const { keys } = await useKeys(6)
  expect(new Set(keys.map(each => each.signing().kid)).size).toBe(1)
  expect(keys.map(kidsOf).every(kids => kids.length === 1)).toBe(true)
})

test('a key is not replaced before its time', async () => {
  const { first, age } = await useKeys(1)
  const { kid } = first.signing()
  await age(89)
  await first.refresh()
  expect(kidsOf(first)).toEqual([kid])
})

test('after ninety days there is one successor, published before it signs, and the old key stays known', async () => {
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

test('a key is dropped when its last tokens have expired', async () => {
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

test('a key that another process made is found when a token names it', async () => {
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

test('private keys are not published', async () => {
  const { first } = await useKeys(1)
  expect(JSON.stringify(first.published())).not.toContain('"d"')
})
