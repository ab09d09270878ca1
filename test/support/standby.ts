import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { chmod, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { inject, onTestFinished } from 'vitest'
import { changeFolderOwner, provideDatabaseSystemUser } from '../../src/embedded-postgres/account.ts'
import {
  type DatabaseSystemUser,
  findPostgresBundle,
  POSTGRES_PROGRAM_ENVIRONMENT,
  providePostgresProgramsFolder,
  runPostgresProgram
} from '../../src/embedded-postgres/programs.ts'
import { until } from '../faults/until.ts'
import { freePort } from './free-port.ts'

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  wal_level: 'replica',
  max_wal_senders: 4,
  wal_keep_size: '256MB',
  fsync: 'off',
  // A killed server leaves its segments behind, which are files of its own folder then.
  dynamic_shared_memory_type: 'mmap',
  max_connections: 100
}
/** PostgreSQL accepts each role from this machine without a password, also for replication. */
const TRUSTED_CONNECTIONS = 'host all all 127.0.0.1/32 trust\nhost replication all 127.0.0.1/32 trust\n'
/** A database that every server has. */
const MAINTENANCE = 'template1'
/** Not copied into a standby: they belong to the running server. */
const OF_THE_SERVER = ['postmaster.pid', 'postmaster.opts']

/** A PostgreSQL server of its own, in a process group of its own. */
export type TestCluster = {
  readonly host: string
  readonly url: string
  /** Runs a statement over a connection of its own, in the database of the shop or in another one. */
  sql(text: string, database?: string): Promise<Record<string, unknown>[]>
  /** The errors in the log of the server. */
  errors(): string[]
  /** Sends a signal to all processes of the server: SIGKILL, SIGSTOP, SIGCONT. */
  signal(name: NodeJS.Signals): void
  /** Ends the server after all of its changes have reached its standby. */
  stop(): Promise<void>
  /** Starts the server at its address after it was stopped or killed. `asStandby`: it was a primary before. */
  start(options?: { asStandby: boolean }): Promise<void>
}
type StandbyOptions = {
  /** A commit is acknowledged once the standby has it. */
  isSynchronous?: boolean
  /** Whether the database of the shop has no migrations. Otherwise it has them, unless DATABASE_URL names the server of the tests. */
  isEmpty?: boolean
}

/** A server for one test, which every role reaches over TCP without a password. It runs the embedded server's programs. */
export const useCluster = async (): Promise<TestCluster> => (await usePrimary()).primary

async function usePrimary({ isEmpty = false }: Pick<StandbyOptions, 'isEmpty'> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-standby-'))
  await chmod(folder, 0o755)
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const account = process.getuid?.() === 0 ? await provideDatabaseSystemUser(() => {}) : {}
  const programs = providePostgresProgramsFolder(findPostgresBundle(), account, folder)
  const first = join(folder, 'one')
  initialized ??= initialize(programs, account)
  // With its owner, which Node's own copy does not keep.
  const { status, stderr } = spawnSync('cp', ['-a', await initialized, first], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  const primary = await startCluster(programs, first, account)
  if (isEmpty) {
    await primary.sql('drop database shop', MAINTENANCE)
    await primary.sql('create database shop template template0', MAINTENANCE)
  }
  return { primary, folder, first, programs, account }
}

/**
 * A primary and a standby that streams from it, for one test. The embedded server lacks `pg_basebackup`, so the files are
 * copied between `pg_backup_start` and `pg_backup_stop`.
 */
export async function usePrimaryAndStandby({
  isSynchronous = false,
  isEmpty = false
}: StandbyOptions = {}): Promise<{ primary: TestCluster; standby: TestCluster }> {
  const { primary, folder, first, programs, account } = await usePrimary({ isEmpty })
  const second = join(folder, 'two')
  const client = new pg.Client({ connectionString: primary.url })
  await client.connect()
  await client.query(`select pg_backup_start('standby', true)`)
  await cp(first, second, {
    recursive: true,
    filter: path => !OF_THE_SERVER.some(name => path.endsWith(name))
  })
  const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop()')
  await client.end()
  await cp(join(first, 'pg_wal'), join(second, 'pg_wal'), { recursive: true })
  await writeFile(join(second, 'backup_label'), rows[0]?.labelfile ?? '')
  await writeFile(join(second, 'standby.signal'), '')
  const { hostname, port } = new URL(primary.url)
  await writeFile(
    join(second, 'postgresql.auto.conf'),
    `primary_conninfo = 'host=${hostname} port=${port} user=cartwright'\n`
  )
  await chmod(second, 0o700)
  if (account.uid !== undefined) changeFolderOwner(second, account)
  const standby = await startCluster(programs, second, account)
  const isStreaming = `select 1 from pg_stat_replication where state = 'streaming'`
  await until('the standby streams', async () => (await primary.sql(isStreaming)).length === 1)
  if (isSynchronous) {
    await primary.sql(`alter system set synchronous_standby_names = '*'`)
    await primary.sql('select pg_reload_conf()')
    const isSync = `select 1 from pg_stat_replication where sync_state = 'sync'`
    await until('commits wait for the standby', async () => (await primary.sql(isSync)).length === 1)
  }
  return { primary, standby }
}

/** The data folder of a server with the database of the shop, made once in this process and copied for each server. */
let initialized: Promise<string> | undefined

async function initialize(programs: string, account: DatabaseSystemUser): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-initialized-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  await chmod(folder, 0o755)
  const cluster = join(folder, 'cluster')
  const migrated = inject('cluster')
  const succeed = ({ status, stderr }: { status: number | null; stderr: string }) => {
    // A failed statement does not end the server.
    if (status !== 0 || stderr.includes('ERROR')) throw new Error(stderr)
  }
  if (migrated === undefined) {
    await makeFolder(cluster, account)
    const options = ['-U', 'cartwright', '--auth=trust', '--no-sync', '--locale=C', '-E', 'UTF8']
    succeed(runPostgresProgram(account, join(programs, 'bin/initdb'), ['-D', cluster, ...options]))
  } else {
    succeed(spawnSync('cp', ['-a', migrated, cluster], { encoding: 'utf8' }))
    await writeFile(join(cluster, 'pg_hba.conf'), TRUSTED_CONNECTIONS)
  }
  const sql =
    migrated === undefined
      ? 'create database shop'
      : `drop database ${inject('templateName')}\nalter database cartwright rename to shop`
  const single = ['--single', '-F', '-D', cluster, MAINTENANCE]
  succeed(runPostgresProgram(account, join(programs, 'bin/postgres'), single, `${sql}\n`))
  return cluster
}

async function makeFolder(path: string, account: DatabaseSystemUser): Promise<void> {
  await mkdir(path, { mode: 0o700 })
  if (account.uid !== undefined) changeFolderOwner(path, account)
}

async function startCluster(
  programs: string,
  cluster: string,
  account: DatabaseSystemUser
): Promise<TestCluster> {
  const port = await freePort()
  const settings = Object.entries({ ...SETTINGS, port }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`
  ])
  let log = ''
  const spawnServer = () => {
    const child: ChildProcess = spawn(join(programs, 'bin/postgres'), ['-D', cluster, ...settings], {
      ...account,
      env: POSTGRES_PROGRAM_ENVIRONMENT,
      cwd: '/',
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe']
    })
    child.stderr?.setEncoding('utf8').on('data', text => {
      log += text
    })
    return { child, pid: child.pid as number, ended: once(child, 'exit') }
  }
  let server = spawnServer()
  const signal = (name: NodeJS.Signals) => {
    // Each process of the server is the leader of a group of its own. It may have ended meanwhile.
    for (const each of [server.pid, ...childrenOf(server.pid)]) {
      try {
        process.kill(each, name)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
      }
    }
  }
  onTestFinished(async () => {
    if (server.child.exitCode === null && server.child.signalCode === null) signal('SIGKILL')
    await server.ended
  })
  const host = `127.0.0.1:${port}`
  const urlOf = (database: string) => `postgres://cartwright@${host}/${database}`
  const sql = async (text: string, database = 'shop') => {
    const client = new pg.Client({ connectionString: urlOf(database) })
    client.on('error', () => {})
    await client.connect()
    const { rows } = await client.query(text).finally(() => client.end())
    return rows
  }
  const stop = async () => {
    server.child.kill('SIGINT')
    await server.ended
  }
  const isUp = () => sql('select', MAINTENANCE)
  const start = async ({ asStandby } = { asStandby: false }) => {
    await server.ended
    if (asStandby) await writeFile(join(cluster, 'standby.signal'), '')
    server = spawnServer()
    await until('the server accepts connections', isUp)
  }
  await until('the server accepts connections', isUp)
  const errors = () => log.split('\n').filter(line => / ERROR: /.test(line))
  return { host, url: urlOf('shop'), sql, errors, signal, stop, start }
}

const childrenOf = (pid: number): number[] =>
  spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
    .stdout.split('\n')
    .map(Number)
    .filter(each => each > 1)
