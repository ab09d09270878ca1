import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createTestApp, type TestApp } from '../../../test/support/app.ts'
import { createTestDatabase, useEmptyDatabase } from '../../../test/support/database.ts'
import { runSql } from '../../../test/support/sql.ts'
import { authModule, standardModules } from '../../app.ts'
import { migrationSources } from '../../module.ts'
import { backUpDatabase } from './backup.ts'
import { restoreDatabase, SEQUENCE_VALUES_SKIPPED_BY_RESTORE } from './restore.ts'

const version = '1.2.3'
const options = { modules: migrationSources(standardModules), progress: () => {} }
const password = 'nine lives and a piano'
/** Every character that COPY escapes, and the text that would end its rows. */
const AWKWARD = 'first\n\\.\n\ttab "quoted" \\N \\\\ ☕ \u2028 end'

let source: { url: string; drop(): Promise<void> }
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cartwright a backup-'))
  source = await createTestDatabase()
  const app = await createTestApp({}, source.url)
  await app.apiOf(authModule)?.createUser({ email: 'ada@example.com', password, role: 'admin' })
  await addProduct(app, await logIn(app), { name: 'Tea', description: AWKWARD })
  await app.close()
  await runSql(source.url, `select nextval('orders.numbers') from generate_series(1, 7)`)
})
afterAll(async () => {
  await source.drop()
  await rm(folder, { recursive: true })
})

async function logIn(app: TestApp): Promise<string> {
  const body = { email: 'ada@example.com', password }
  const { status, json } = await app.request('POST', '/api/auth/login', { body })
  expect(status).toBe(200)
  return json.access_token
}

async function addProduct(app: TestApp, token: string, fields: { name: string; description?: string }) {
  const body = { ...fields, slug: fields.name.toLowerCase(), variants: [{ sku: fields.name, price: 450 }] }
  expect((await app.request('POST', '/api/catalog/products', { token, body })).status).toBe(201)
}

/** A hash of the rows of each table, and the value of each sequence. */
async function contentOf(url: string): Promise<Record<string, string>> {
  const tables = await runSql(
    url,
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema') and tablename <> 'migrations'`
  )
  const sequences = await runSql(
    url,
    `select schemaname || '.' || sequencename as name, coalesce(last_value, 0)::text as hash from pg_sequences`
  )
  const hashes = tables.map(async ({ name }) => {
    const [row] = await runSql(
      url,
      `select md5(coalesce(string_agg(t::text, '|' order by t::text), '')) as hash from ${name} t`
    )
    return [name, row?.hash]
  })
  return Object.fromEntries([
    ...(await Promise.all(hashes)),
    ...sequences.map(({ name, hash }) => [name, hash])
  ])
}

const useFile = (name: string) => {
  const file = join(folder, name)
  onTestFinished(() => rm(file, { force: true }))
  return file
}

test('a restored database has every row of the backup, and a shop runs on it', async () => {
  const file = useFile('whole.backup')
  const report = await backUpDatabase(source.url, file, { version, progress: () => {} })
  expect(report.rows).toBeGreaterThan(5)
  const target = await useEmptyDatabase()
  expect(await restoreDatabase(target.url, file, options)).toEqual(report)
  const content = await contentOf(target.url)
  const { 'orders.numbers': drawn, ...whole } = await contentOf(source.url)
  expect(content).toEqual({
    ...whole,
    // Their positions are moved.
    'cartwright.event_batches': content['cartwright.event_batches'],
    'orders.numbers': String(Number(drawn) + SEQUENCE_VALUES_SKIPPED_BY_RESTORE)
  })

  const app = await createTestApp({}, target.url)
  onTestFinished(app.close)
  const token = await logIn(app)
  const { json } = await app.request('GET', '/api/products')
  expect(json.items.map((each: { name: string }) => each.name)).toEqual(['Tea'])
  // Identity columns continue after the restored rows.
  await addProduct(app, token, { name: 'Coffee' })
})

test('a restored shop never reuses an order number that was assigned after the backup', async () => {
  const own = await createTestDatabase()
  onTestFinished(own.drop)
  const draw = async (url: string) =>
    (await runSql(url, `select nextval('orders.numbers')::int as value from generate_series(1, 50)`)).map(
      ({ value }) => Number(value)
    )
  const [first, second] = [useFile('first.backup'), useFile('second.backup')]
  await backUpDatabase(own.url, first, { version, progress: () => {} })
  const early = await draw(own.url)
  await backUpDatabase(own.url, second, { version, progress: () => {} })
  const known = [...early, ...(await draw(own.url))]
  for (const file of [first, second]) {
    const target = await useEmptyDatabase()
    await restoreDatabase(target.url, file, options)
    const next = await draw(target.url)
    expect(next.filter(value => known.includes(value))).toEqual([])
  }
})

test('a backup is one consistent snapshot while other transactions write', async () => {
  const own = await createTestDatabase()
  onTestFinished(own.drop)
  let isOver = false
  let written = 0
  const PAIR = `
    with made as (
      insert into auth.users (id, email, name, password_hash, role)
      values (gen_random_uuid(), gen_random_uuid() || '@example.com', 'pair', 'x', 'customer') returning id
    )
    insert into cart.carts (cart_id, version, quantity, distinct_count, expires_at)
    select id, 1, 0, 0, now() + interval '1 day' from made`
  const writing = (async () => {
    while (!isOver) {
      await runSql(own.url, PAIR)
      written += 1
    }
  })()
  const file = useFile('moment.backup')
  while (written === 0) await runSql(own.url, 'select 1')
  await backUpDatabase(own.url, file, { version, progress: () => {} })
  isOver = true
  await writing
  const target = await useEmptyDatabase()
  await restoreDatabase(target.url, file, options)
  const [pairs] = await target.sql(`
    select (select count(*)::int from auth.users where name = 'pair') as users, (select count(*)::int from cart.carts) as carts`)
  expect(pairs?.users).toBe(pairs?.carts)
  expect(pairs?.users).toBeGreaterThan(0)
})

test('a backup that is incomplete, altered or of a newer version restores nothing', async () => {
  const file = useFile('broken.backup')
  await backUpDatabase(source.url, file, { version, progress: () => {} })
  const zipped = await readFile(file)
  const text = gunzipSync(zipped).toString()
  const broken: Record<string, [Buffer, RegExp]> = {
    'cut off': [zipped.subarray(0, zipped.length - 200), /no whole backup/],
    'another file': [Buffer.from('hello'), /no whole backup/],
    empty: [Buffer.alloc(0), /no whole backup/],
    'without its end': [gzipSync(text.slice(0, text.lastIndexOf('{"rows"'))), /no whole backup/],
    'a row less': [gzipSync(text.replace('"auth.users":1', '"auth.users":2')), /other rows arrived/],
    'a table more': [
      gzipSync(text.replace('"auth.users"', '"auth.users; drop table x"')),
      /not where it should be/
    ],
    'of a newer program': [gzipSync(text.replace('0001_accounts.sql', '9001_later.sql')), /does not know/]
  }
  const target = await useEmptyDatabase()
  for (const [what, [content, reason]] of Object.entries(broken)) {
    await writeFile(file, content)
    await expect(restoreDatabase(target.url, file, options), what).rejects.toThrow(reason)
    expect(
      await target.sql("select 1 from pg_namespace where nspname in ('cartwright', 'auth')"),
      what
    ).toEqual([])
  }
})

test('a backup overwrites no file, and a restore overwrites no shop', async () => {
  const file = useFile('there.backup')
  await writeFile(file, 'mine')
  await expect(backUpDatabase(source.url, file, { version, progress: () => {} })).rejects.toThrow(
    'already exists'
  )
  expect(await readFile(file, 'utf8')).toBe('mine')
  await rm(file)
  await backUpDatabase(source.url, file, { version, progress: () => {} })
  const before = await contentOf(source.url)
  await expect(restoreDatabase(source.url, file, options)).rejects.toThrow('There is a shop in this database')
  expect(await contentOf(source.url)).toEqual(before)
  const empty = await useEmptyDatabase()
  await expect(
    backUpDatabase(empty.url, join(folder, 'none'), { version, progress: () => {} })
  ).rejects.toThrow('no shop')
  await expect(readFile(join(folder, 'none'))).rejects.toThrow('ENOENT')
})
