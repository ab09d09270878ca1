import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'

const RESTART_MS_MAX = 60_000
const POLL_MS = 10
const PROGRAM = fileURLToPath(new URL('./shop.ts', import.meta.url))

/** A shop in a process of its own, which can be killed and started again on the same data and port. */
export type Victim = {
  origin(): string
  start(): Promise<void>
  /** `kill -9` of the process; returns when it is gone. */
  killProcess(): Promise<void>
  /** `kill -9` of the PostgreSQL below it; returns when the shop has started it again. */
  killPostmaster(): Promise<void>
  sql(text: string): Promise<Record<string, unknown>[]>
  stop(): Promise<void>
}

export function createVictim(folder: string, variantIds: readonly string[]): Victim {
  let child: ChildProcess | undefined
  let port = 0
  let url = ''

  const end = async (signal: NodeJS.Signals) => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill(signal)
    await exited
  }
  const postmaster = async () =>
    Number((await readFile(join(folder, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0])

  const sql: Victim['sql'] = async text => {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => {})
    await client.connect()
    try {
      return (await client.query(text)).rows
    } finally {
      await client.end()
    }
  }

  return {
    origin: () => `http://127.0.0.1:${port}`,
    start: async () => {
      const started = spawn(process.execPath, [PROGRAM, folder, String(port), ...variantIds], {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { ...process.env, NODE_NO_WARNINGS: '1' }
      })
      child = started
      const lines = createInterface({ input: started.stdout })
      const first = once(lines, 'line')
      const died = once(started, 'exit').then(([code]) => {
        throw new Error(`the shop ended with ${code} before it served`)
      })
      died.catch(() => {})
      const [line] = await Promise.race([first, died])
      ;({ port, url } = JSON.parse(String(line)))
    },
    killProcess: () => end('SIGKILL'),
    killPostmaster: async () => {
      const killed = await postmaster()
      process.kill(killed, 'SIGKILL')
      const deadline = performance.now() + RESTART_MS_MAX
      const isBack = async () => (await postmaster()) !== killed && (await sql('select 1')).length === 1
      while (!(await isBack().catch(() => false))) {
        if (performance.now() > deadline) throw new Error('PostgreSQL does not come back')
        await delay(POLL_MS)
      }
    },
    sql,
    // The supervisor of its PostgreSQL stops the server when the process is gone.
    stop: () => end('SIGKILL')
  }
}
