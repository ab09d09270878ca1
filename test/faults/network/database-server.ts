import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { openEmbeddedPostgres } from '../../../src/embedded-postgres/open.ts'

/** Stranded connections stay open at the server beside their replacements. */
const CONNECTIONS_MAX = 250

/** A PostgreSQL with an empty database for a site. */
export type DatabaseServer = {
  /** The URL of that database. */
  url: string
  sql(text: string): Promise<Record<string, unknown>[]>
  /** Returns the id of the server's process; `undefined` when the suite did not start the server and may not kill it. */
  postmaster: (() => Promise<number>) | undefined
  stop(): Promise<void>
}

/** The server that DATABASE_URL names, with a database that is dropped at the end; otherwise a new server in `folder`. */
export async function openDatabaseServer(folder: string): Promise<DatabaseServer> {
  const named = process.env.DATABASE_URL
  if (named !== undefined && named !== '') {
    const name = `cartwright_faults_${process.pid}_${Date.now().toString(36)}`
    const server = await openDatabase(named, name)
    const stop = async () => void (await run(named, `drop database ${name} with (force)`))
    return { ...server, postmaster: undefined, stop }
  }
  const postgres = await openEmbeddedPostgres({ folder, mode: 'own', connectionsMax: CONNECTIONS_MAX })
  try {
    return {
      ...(await openDatabase(postgres.url, 'cartwright_faults')),
      postmaster: async () =>
        Number.parseInt(await readFile(join(folder, 'postgres', 'postmaster.pid'), 'utf8'), 10),
      stop: () => postgres.stop()
    }
  } catch (error) {
    await postgres.stop()
    throw error
  }
}

async function openDatabase(serverUrl: string, name: string) {
  await run(serverUrl, `create database ${name}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return { url: url.href, sql: (text: string) => run(url.href, text) }
}

async function run(connectionString: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}
