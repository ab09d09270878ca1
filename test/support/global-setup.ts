import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { modules } from '../../src/app.ts'
import { migrationSources } from '../../src/module.ts'
import { openEmbeddedPostgres } from '../../src/platform/embedded-postgres/open.ts'
import { migrate } from '../../src/platform/postgres/migrate.ts'
import { databaseNamed } from './database.ts'

declare module 'vitest' {
  interface ProvidedContext {
    serverUrl: string
    templateName: string
  }
}

const MEMORY = '/dev/shm'
const ROOM_BYTES_MIN = 4 * 1_073_741_824

/**
 * A folder in memory, where there is one with enough room. A database is some 400 files, and thousands of databases are made
 * and dropped: on ext4 a fifth of all the time was spent on looking for inodes that had not been deleted just now (2026-11).
 */
async function quickFolder(): Promise<string> {
  const { bavail, bsize } = await statfs(MEMORY).catch(() => ({ bavail: 0, bsize: 0 }))
  return bavail * bsize >= ROOM_BYTES_MIN ? MEMORY : tmpdir()
}

/** Several shops of several processes are tested at once. */
const CONNECTIONS_MAX = 300

/**
 * One PostgreSQL for all test files: the server that DATABASE_URL names, else an embedded one in a temporary
 * folder. It gets a migrated template database, which every test file clones (30 ms) and drops.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(await quickFolder(), 'cartwright-test-'))
  // The server runs as another user when the tests run as root; it has to get in.
  await chmod(folder, 0o755)
  const named = process.env.DATABASE_URL
  const server = named
    ? { url: named, stop: async () => {} }
    : await openEmbeddedPostgres({ folder, mode: 'own', connectionsMax: CONNECTIONS_MAX })
  const templateName = `cartwright_template_${process.pid}`
  const run = async (sql: string) => {
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    await client.query(sql).finally(() => client.end())
  }
  await run(`create database ${templateName} encoding 'UTF8' template template0`)
  await migrate(databaseNamed(server.url, templateName), migrationSources(modules))
  project.provide('serverUrl', server.url)
  project.provide('templateName', templateName)

  return async () => {
    await run(`drop database ${templateName}`)
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}
