import pg from 'pg'
import { inject, onTestFinished } from 'vitest'
import { type Database, type DatabaseOptions, openDatabase } from '../../src/platform/postgres/database.ts'
import { databaseNamed } from './database-name.ts'
import { testDatabaseOptions } from './database-options.ts'
import { openShared } from './shared-shops.ts'

export { databaseNamed, testDatabaseOptions }

/** Where databases are made. @throws in the lane for units, which has none. */
function serverUrl(): string {
  const url = inject('serverUrl')
  if (url === undefined)
    throw new Error(
      'needs the shop lane: this test asks for a database, but nothing that its file imports says so. Import ' +
        'test/support/database.ts or src/testing.ts with an import statement, or declare "// Lane alone: <reason>".'
    )
  return url
}

let databases = 0
let opened: Promise<pg.Client> | undefined

/** The connection over which this process makes and drops databases: two less a test, of seven. It keeps no process alive. */
function server(): Promise<pg.Client> {
  opened ??= connectToServer()
  return opened
}

async function connectToServer(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: serverUrl() })
  const forget = () => {
    opened = undefined
  }
  client.on('error', forget).on('end', forget)
  await client.connect().catch(error => {
    forget()
    throw error
  })
  // Not in its types.
  ;(client as pg.Client & { unref(): void }).unref()
  return client
}

const run = async (sql: string) => void (await (await server()).query(sql))

/** A migrated, empty database of its own, and how to drop it. */
export async function createTestDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  databases += 1
  const name = `cartwright_test_${process.pid}_${Date.now().toString(36)}_${databases}`
  // Copied as files, which takes a third of the CPU time of copying it through the log.
  await run(`create database ${name} template ${inject('templateName')} strategy file_copy`)
  return { url: databaseNamed(serverUrl(), name), drop: () => run(`drop database ${name} with (force)`) }
}

/** The URL of a migrated database for one test. Tests of a file that calls `shareShops` share it. */
export const useTestDatabaseUrl = (): Promise<string> =>
  openShared(['database'], async onFinished => {
    const { url, drop } = await createTestDatabase()
    onFinished(drop)
    return url
  })

/** Connections of one test to a database, which tests of a file that calls `shareShops` share. */
export async function useTestDatabase(options: Partial<DatabaseOptions> = {}): Promise<Database> {
  const db = openDatabase({ ...testDatabaseOptions(await useTestDatabaseUrl()), ...options })
  onTestFinished(db.close)
  return db
}

/** Ends all connections to a database, so that none keeps a lock. */
export async function endConnections(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1)
  await run(`select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${name}'`)
}

/** A database without anything in it, for one test. */
export async function useEmptyDatabase() {
  databases += 1
  const name = `cartwright_empty_${process.pid}_${Date.now().toString(36)}_${databases}`
  await run(`create database ${name} template template0`)
  const url = databaseNamed(serverUrl(), name)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(async () => {
    await client.end()
    await run(`drop database ${name} with (force)`)
  })
  return { url, sql: async (text: string) => (await client.query(text)).rows }
}

/** Opens all connections of the pool: afterwards none is still under way. */
export async function openAll(db: Database, poolSize: number): Promise<void> {
  const all = Promise.withResolvers<void>()
  let open = 0
  const hold = () =>
    db.transaction(async () => {
      open += 1
      if (open === poolSize) all.resolve()
      await all.promise
    })
  await Promise.all(Array.from({ length: poolSize }, hold))
}
