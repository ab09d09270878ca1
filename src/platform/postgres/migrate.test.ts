import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { useProxiedDatabase } from '../../../test/faults/postgres-proxy.ts'
import { useEmptyDatabase } from '../../../test/support/database.ts'
import { MAIN } from '../../../test/support/program.ts'
import { standardModules } from '../../app.ts'
import { OperatorError } from '../../kernel/errors.ts'
import { migrationSources } from '../../module.ts'
import { type MigrationSource, migrate } from './migrate.ts'

/** A folder of migrations; `write` makes or changes one. */
async function useSource(module: string) {
  const root = await mkdtemp(join(tmpdir(), 'cartwright-migrations-'))
  onTestFinished(() => rm(root, { recursive: true }))
  const folder = join(root, module)
  await mkdir(folder)
  const source: MigrationSource = { module, folder: pathToFileURL(`${folder}/`) }
  return {
    source,
    write: (name: string, sql: string) => writeFile(join(folder, name), sql),
    remove: (name: string) => rm(join(folder, name))
  }
}

async function refusal(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    thrown => thrown
  )
  expect(error).toBeInstanceOf(OperatorError)
  expect(error.message).not.toContain('\n')
  return error.message
}

test('eight concurrent migrations of an empty database apply each migration once', async () => {
  const { url, sql } = await useEmptyDatabase()
  const sources = migrationSources(standardModules)
  const applied = await Promise.all(Array.from({ length: 8 }, () => migrate(url, sources)))
  const winners = applied.filter(names => names.length > 0)
  expect(winners.length).toBe(1)
  const rows = await sql('select module, name from cartwright.migrations')
  expect(rows.map(({ module, name }) => `${module}/${name}`).sort()).toEqual(winners.flat().sort())
  expect(await migrate(url, sources)).toEqual([])
})

test('migrations are applied in the order of their names, and a new one at the next run', async () => {
  const { url, sql } = await useEmptyDatabase()
  const { source, write } = await useSource('shelf')
  await write('0002_more.sql', 'insert into shelf.books values (2)')
  await write('0001_first.sql', 'create schema shelf; create table shelf.books (id int)')
  await write('notes.txt', 'not a migration')
  const first = await migrate(url, [source])
  expect(first.filter(name => name.startsWith('shelf/'))).toEqual([
    'shelf/0001_first.sql',
    'shelf/0002_more.sql'
  ])
  await write('0010_tenth.sql', 'insert into shelf.books values (10)')
  expect(await migrate(url, [source])).toEqual(['shelf/0010_tenth.sql'])
  expect(await sql('select id from shelf.books order by id')).toEqual([{ id: 2 }, { id: 10 }])
})

test('a failing migration is named in the error and leaves the database unchanged', async () => {
  const { url, sql } = await useEmptyDatabase()
  const { source, write } = await useSource('shelf')
  await write('0001_first.sql', 'create schema shelf; create table shelf.books (id int)')
  await write('0002_bad.sql', 'insert into shelf.books values (1); select 1 / 0')
  const message = await refusal(migrate(url, [source]))
  expect(message).toBe('Migrating the database failed (shelf/0002_bad.sql): division by zero.')
  const schemas = await sql(
    `select nspname from pg_namespace where nspname !~ '^pg_' and nspname not in ('public', 'information_schema')`
  )
  expect(schemas).toEqual([])
  await write('0002_bad.sql', 'insert into shelf.books values (1)')
  expect((await migrate(url, [source])).length).toBeGreaterThan(1)
})

test('an applied migration whose file has changed prevents the start', async () => {
  const { url } = await useEmptyDatabase()
  const { source, write } = await useSource('shelf')
  await write('0001_first.sql', 'create schema shelf')
  await migrate(url, [source])
  await write('0001_first.sql', 'create schema shelf -- but different')
  expect(await refusal(migrate(url, [source]))).toMatch(
    /^The database was created by a version whose migration shelf\/0001_first.sql differs/
  )
})

test('a database that a newer version migrated prevents the start', async () => {
  const { url } = await useEmptyDatabase()
  const { source, write, remove } = await useSource('shelf')
  await write('0001_first.sql', 'create schema shelf')
  await write('0002_newer.sql', 'create table shelf.books (id int)')
  await migrate(url, [source])
  await remove('0002_newer.sql')
  expect(await refusal(migrate(url, [source]))).toMatch(/0002_newer.sql, .* migrated by a newer version/)
})

test('migrations of a removed module are ignored', async () => {
  const { url } = await useEmptyDatabase()
  const { source, write } = await useSource('shelf')
  await write('0001_first.sql', 'create schema shelf')
  await migrate(url, [source])
  expect(await migrate(url, [])).toEqual([])
})

test('each reason why the database cannot be used is reported in one sentence without the password', async () => {
  const { url, proxy } = await useProxiedDatabase()
  const target = new URL(url)
  const elsewhere = new URL(url)
  elsewhere.pathname = '/no_such_database'
  expect(await refusal(migrate(elsewhere.href, []))).toContain('database "no_such_database" does not exist')
  const stranger = new URL(url)
  stranger.username = 'nobody_known'
  stranger.password = 'pa55word'
  expect(await refusal(migrate(stranger.href, []))).not.toContain('pa55word')
  const version = (await versionOf(url)).toString()
  proxy.tamper(version, `14${version.slice(2)}`)
  expect(await refusal(migrate(url, []))).toBe(
    'The database runs PostgreSQL 14; Cartwright needs 15 or newer.'
  )
  await proxy.cut()
  expect(await refusal(migrate(url, []))).toBe(
    `Cannot reach the database: connect ECONNREFUSED 127.0.0.1:${target.port}. Check DATABASE_URL (database.url).`
  )
})

async function versionOf(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(`select current_setting('server_version_num') as version`)
  await client.end()
  return rows[0].version
}

test('a database server that hangs is reported in one sentence within five seconds', async () => {
  const { url, proxy } = await useProxiedDatabase()
  proxy.hang()
  const startedAt = performance.now()
  expect(await refusal(migrate(url, []))).toMatch(/^Cannot reach the database: timeout expired/)
  expect(performance.now() - startedAt).toBeLessThan(5_000)
})

test.each(['postgres://user:pa55#word@localhost/db', 'postgres://user:pa55word@:99999/db', 'pa55word'])(
  'an invalid database URL is not repeated in the error message',
  async url => {
    expect(await refusal(migrate(url, []))).not.toMatch(/pa55|word/)
  }
)

test('a standby database server is rejected in one sentence', async () => {
  const ended: string[] = []
  const client = {
    query: async () => ({ rows: [{ is_standby: true }] }),
    end: async () => void ended.push('end')
  } as unknown as pg.Client
  const found = Promise.resolve({ client, applied: [] })
  expect(await refusal(migrate('postgres://standby', [], found))).toBe(
    'The database is a standby, which can only be read. Let DATABASE_URL (database.url) name the primary, or set ' +
      'database.read_only to serve public pages only.'
  )
  expect(ended).toEqual(['end'])
})

test('the migrate command lists the applied migrations, and changes nothing the second time', async () => {
  const { url } = await useEmptyDatabase()
  const run = () =>
    new Promise<{ code: number | null; output: string }>(resolve => {
      const env = { ...process.env, DATABASE_URL: url }
      const child = execFile(process.execPath, [MAIN, 'migrate'], { env }, (_error, stdout, stderr) =>
        resolve({ code: child.exitCode, output: stdout + stderr })
      )
    })
  const first = await run()
  expect(first).toMatchObject({ code: 0, output: expect.stringContaining('Applied:\n  cartwright/0001_') })
  expect(await run()).toEqual({ code: 0, output: 'The database is up to date.\n' })
})
