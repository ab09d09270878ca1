import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MAIN, type Program, startProgram } from '../../support/program.ts'
import { fixedPort } from '../fixed-port.ts'
import { addressOf, throughProxy } from '../postgres-address.ts'
import { type CommitWatch, type StatementWatch, watchCommits, watchStatements } from '../postgres-wire.ts'
import { createRedisServer, type RedisServer } from '../redis-server.ts'
import { openTcpProxy, type TcpProxy } from '../tcp-proxy.ts'
import { until } from '../until.ts'
import { type DatabaseServer, openDatabaseServer } from './database-server.ts'

const SETTINGS = {
  CARTWRIGHT__RATE_LIMIT__ENABLED: 'false',
  CARTWRIGHT__AUTH__ACCESS_TOKEN_SECONDS: '86400',
  CARTWRIGHT__CART__LINE_QUANTITY_MAX: '100000',
  // Carts get more units than the demo has.
  CARTWRIGHT__MODULES__INVENTORY__ENABLED: 'false',
  CARTWRIGHT__LOG__LEVEL: 'error',
  CARTWRIGHT__SHOP__DEMO: 'on'
}
const RECOVERY_MS_MAX = 60_000
const LOG_LINES_SHOWN_MAX = 5
const LOG_LINE_LENGTH_MAX = 300

/** One process of the shop, with proxies of its own between it and its servers. */
type ShopProcess = {
  origin: string
  database: TcpProxy
  commits: CommitWatch
  statements: StatementWatch
  cache: TcpProxy
  signal(name: NodeJS.Signals): void
  /** `kill -9`; returns when it is gone. */
  kill(): Promise<void>
}

/** The real program in one or more processes, on a database and a Redis of their own. */
export type ShopUnderFaults = {
  processes: ShopProcess[]
  redis: RedisServer
  /** Runs a statement on a direct connection. */
  sql(text: string): Promise<Record<string, unknown>[]>
  /** `undefined` when the suite did not start the server. */
  postmaster: DatabaseServer['postmaster']
  /** Returns when the database answers (again). */
  databaseAnswers(): Promise<void>
  /** Removes all faults and restarts the processes that ended. Returns how each of them ended. */
  recover(): Promise<string[]>
  /** Returns one line of each message that the program has logged since the previous call. */
  takeLogLines(): string[]
  close(): Promise<void>
}

type Environment = Readonly<Record<string, string>>

/** `settings` are environment variables of all processes, `ofProcess` those of one. `main`: the program. */
export async function openShopUnderFaults(
  count: number,
  settings: Environment = SETTINGS,
  ofProcess: (at: number) => Environment = () => ({}),
  main: string = MAIN
): Promise<ShopUnderFaults> {
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-network-'))
  // The server runs as another user when the suite runs as root, and needs access.
  await chmod(folder, 0o755)
  const server = await openDatabaseServer(folder)
  const redis = await createRedisServer()
  const running: RunningProcess[] = []
  const close = async () => {
    await Promise.all(running.map(each => each.close()))
    await redis.kill()
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await redis.start()
    // The first process creates the demo shop, so the others start after it.
    for (let i = 0; i < count; i += 1)
      running.push(
        await startProcess(main, server.url, redis, {
          ...settings,
          ...ofProcess(i),
          CARTWRIGHT_DATA: join(folder, 'shop')
        })
      )
  } catch (error) {
    await close()
    throw error
  }
  const { sql, postmaster } = server
  return {
    processes: running,
    redis,
    sql,
    postmaster,
    databaseAnswers: async () => {
      await until('PostgreSQL answers', () => sql('select 1').then(() => true), RECOVERY_MS_MAX)
    },
    recover: async () => (await Promise.all(running.map((each, at) => each.tidy(at + 1)))).flat(),
    takeLogLines: () => running.flatMap(each => each.takeLogLines()),
    close
  }
}

type RunningProcess = ShopProcess &
  Pick<ShopUnderFaults, 'takeLogLines' | 'close'> & { tidy(number: number): Promise<string[]> }

async function startProcess(
  main: string,
  databaseUrl: string,
  redis: RedisServer,
  settings: Environment
): Promise<RunningProcess> {
  const commits = watchCommits()
  const statements = watchStatements()
  const database = await openTcpProxy(addressOf(databaseUrl), (...seen) => {
    const fates = [statements.watch(...seen), commits.watch(...seen)]
    return fates.find(fate => fate !== 'pass') ?? 'pass'
  })
  const cache = await openTcpProxy({ host: '127.0.0.1', port: redis.port })
  const port = String(await fixedPort())
  const start = async () => {
    const environment = {
      ...settings,
      PORT: port,
      DATABASE_URL: throughProxy(databaseUrl, database),
      REDIS_URL: `redis://127.0.0.1:${cache.port}`
    }
    const program = startProgram(environment, { main })
    await program.listening
    return program
  }
  let program = await start()
  // An interrupted suite leaves no process behind.
  process.once('exit', () => program.child.kill('SIGKILL'))
  let read = 0
  return {
    origin: `http://127.0.0.1:${port}`,
    database,
    commits,
    statements,
    cache,
    signal: name => void program.child.kill(name),
    kill: async () => {
      program.child.kill('SIGKILL')
      await program.ended
    },
    tidy: async number => {
      commits.restore()
      statements.restore()
      await Promise.all([database.restore(), cache.restore()])
      for (const proxy of [database, cache]) proxy.sweep()
      if (program.child.exitCode === null && program.child.signalCode === null) return []
      const { code, stderr } = await program.ended
      program = await start()
      read = 0
      return [`process ${number} ended with ${code}: ${exitReason(stderr)}`]
    },
    takeLogLines: () => {
      const fresh = program.output.stdout.slice(read)
      read = program.output.stdout.length
      return firstLineOfEachKind(fresh)
    },
    close: () => stop(program, [database, cache])
  }
}

async function stop(program: Program, proxies: TcpProxy[]): Promise<void> {
  program.child.kill('SIGCONT')
  program.child.kill('SIGTERM')
  await program.ended
  for (const proxy of proxies) await proxy.close()
}

/** The error and its stack frames in `src`. */
const exitReason = (stderr: string) =>
  stderr
    .split('\n')
    .filter(line => /error|src\//i.test(line))
    .slice(0, LOG_LINES_SHOWN_MAX)
    .map(line => line.trim())
    .join(' / ')

/** Returns the latest log line of each message and error. */
function firstLineOfEachKind(text: string): string[] {
  const kinds = new Map<string, string>()
  for (const line of text.split('\n')) {
    if (!line.startsWith('{')) continue
    const { msg, err } = JSON.parse(line) as { msg?: string; err?: { message?: string; stack?: string } }
    const place = err?.stack?.split('\n').find(each => each.includes('/src/'))
    kinds.set(`${msg} ${err?.message}`, `${msg}: ${err?.message ?? ''} ${place?.trim() ?? ''}`)
  }
  return [...kinds.values()].slice(0, LOG_LINES_SHOWN_MAX).map(line => line.slice(0, LOG_LINE_LENGTH_MAX))
}
