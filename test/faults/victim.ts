import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { readFolderLockHolder } from '../../src/embedded-postgres/folder-lock.ts'
import { type Program, startProgram } from '../support/program.ts'
import { fixedPort } from './fixed-port.ts'
import { until } from './until.ts'

const RESTART_MS_MAX = 60_000

/** The real program on a folder and a port of its own, which can be killed and started again. */
export type Victim = {
  origin: string
  start(): Promise<void>
  /** `kill -9` of the process; returns when it is gone. */
  killProcess(): Promise<void>
  /** `kill -9` of the PostgreSQL below it; returns when the program has started it again. */
  killPostmaster(): Promise<void>
  sql(text: string): Promise<Record<string, unknown>[]>
  /** Stops the program in order and removes its folder. */
  remove(): Promise<void>
}

export async function createVictim(environment: Record<string, string>): Promise<Victim> {
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-faults-'))
  // The server runs as another user when the tests run as root; and needs access.
  await chmod(folder, 0o755)
  const port = String(await fixedPort())
  let program: Program | undefined

  const end = async (signal: NodeJS.Signals) => {
    program?.child.kill(signal)
    await program?.ended
  }
  const postmaster = async () =>
    Number.parseInt(await readFile(join(folder, 'postgres', 'postmaster.pid'), 'utf8'), 10)

  const sql: Victim['sql'] = async text => {
    const client = new pg.Client({ connectionString: readFolderLockHolder(folder)?.url ?? undefined })
    client.on('error', () => {})
    await client.connect()
    try {
      return (await client.query(text)).rows
    } finally {
      await client.end()
    }
  }

  return {
    origin: `http://127.0.0.1:${port}`,
    start: async () => {
      program = startProgram({ ...environment, CARTWRIGHT_DATA: folder, PORT: port })
      await program.listening
    },
    killProcess: () => end('SIGKILL'),
    killPostmaster: async () => {
      const killed = await postmaster()
      process.kill(killed, 'SIGKILL')
      const isBack = async () => (await postmaster()) !== killed && (await sql('select 1')).length === 1
      await until('PostgreSQL is back', isBack, RESTART_MS_MAX)
    },
    sql,
    remove: async () => {
      await end('SIGTERM')
      await rm(folder, { recursive: true, force: true })
    }
  }
}
