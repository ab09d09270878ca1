import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { addressOf, throughProxy } from '../faults/postgres-address.ts'
import { until } from '../faults/until.ts'
import { freePort } from './free-port.ts'

const PROGRAM = 'pgbouncer'

const UNPRIVILEGED = { uid: 65_534, gid: 65_534 }

const isInstalled = spawnSync(PROGRAM, ['--version'], { stdio: 'ignore' }).status === 0
if (!isInstalled) console.warn('PgBouncer is not installed, so the tests with it are skipped.')
/** Whether tests can start PgBouncer. */
export const hasPgbouncer = isInstalled

/** A PgBouncer in front of the database at `url`, for one test. Returns the URL of the database through it. */
export async function usePgbouncer(url: string, settings: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-pgbouncer-'))
  await chmod(folder, 0o755)
  const port = await freePort()
  const { username, pathname, password } = new URL(url)
  const at = addressOf(url) as { path?: string; host?: string; port?: number }
  const host = at.path === undefined ? at.host : at.path.slice(0, at.path.lastIndexOf('/'))
  const serverPort = at.port ?? Number(at.path?.split('.').at(-1))
  // PgBouncer refuses root, and the embedded server lets only the owner of its socket and root in.
  const { uid, gid } = at.path === undefined ? UNPRIVILEGED : await stat(at.path)
  const identity = userInfo().uid === 0 ? { uid, gid } : {}
  const database = [`host=${host}`, `port=${serverPort}`, `user=${username}`, `password=${password}`]
  const lines = [
    '[databases]',
    `${pathname.slice(1)} = ${database.filter(part => !part.endsWith('=')).join(' ')}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    ...Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
  ]
  const file = join(folder, 'pgbouncer.ini')
  await writeFile(file, `${lines.join('\n')}\n`)
  const child = spawn(PROGRAM, [file], { ...identity, stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(child, 'close')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
    await rm(folder, { recursive: true })
  })
  await until('PgBouncer listens', () => listens(port), 10_000)
  return throughProxy(url, { port })
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } finally {
    socket.destroy()
  }
}
