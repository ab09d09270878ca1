import pg from 'pg'
import { inject, onTestFinished } from 'vitest'
import { type Database, openDatabase } from '../../src/platform/postgres/database.ts'
import { testDatabaseOptions } from './database-options.ts'

export { testDatabaseOptions }

/** The same server, another database. */
export function databaseNamed(url: string, name: string): string {
  if (url.startsWith('socket:')) return url.replace(/([?&]db=)[^&]*/, `$1${name}`)
  const parsed = new URL(url)
  parsed.pathname = `/${name}`
  return parsed.href
}

let databases = 0

/** A migrated, empty database of its own, and how to drop it. */
export async function createTestDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const serverUrl = inject('serverUrl')
  databases += 1
  const name = `cartwright_test_${process.pid}_${Date.now().toString(36)}_${databases}`
  const run = async (sql: string) => {
    const client = new pg.Client({ connectionString: serverUrl })
    await client.connect()
    await client.query(sql).finally(() => client.end())
  }
  await run(`create database ${name} template ${inject('templateName')}`)
  return { url: databaseNamed(serverUrl, name), drop: () => run(`drop database ${name} with (force)`) }
}

/** A database for one test; it is closed and dropped when the test has finished. */
export async function useTestDatabase(): Promise<Database> {
  const created = await createTestDatabase()
  const db = openDatabase(testDatabaseOptions(created.url))
  onTestFinished(async () => {
    await db.close()
    await created.drop()
  })
  return db
}

/** A database without anything in it, for one test. */
export async function useEmptyDatabase() {
  databases += 1
  const name = `cartwright_empty_${process.pid}_${Date.now().toString(36)}_${databases}`
  const admin = new pg.Client({ connectionString: inject('serverUrl') })
  await admin.connect()
  await admin.query(`create database ${name} template template0`)
  const url = databaseNamed(inject('serverUrl'), name)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(async () => {
    await client.end()
    await admin.query(`drop database ${name} with (force)`)
    await admin.end()
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
