import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { OperatorError } from '../kernel/errors.ts'
import { createFolder } from '../platform/folder.ts'
import {
  changeFileOwner,
  changeFolderOwner,
  mustChangePostgresFilesOwner,
  provideDatabaseSystemUser,
  restrictDatabaseLoginsToSystemUsers
} from './account.ts'
import { type FolderLock, lockFolder, readFolderLockHolder } from './folder-lock.ts'
import {
  createFolderWithMode,
  DATABASE_SYSTEM_USER_FOLDER,
  type DatabaseSystemUser,
  findPostgresBundle,
  isSystemCallError,
  POSTGRES_PROGRAM_ENVIRONMENT,
  type PostgresBundle,
  providePostgresProgramsFolder,
  runPostgresProgram
} from './programs.ts'
import { EmbeddedPostgresServer, type ReportEmbeddedPostgresProgress, stopPostmaster } from './server.ts'

/** A running embedded database. `url` is its connection string for the `pg` client. */
export type RunningEmbeddedPostgres = { url: string; stop(): Promise<void> }

type Place = { home: string; account: DatabaseSystemUser }

/** Maximum bytes of a Unix socket's path: 103 on macOS (107 on Linux). */
const SOCKET_PATH_BYTES_MAX = 103

/** Default wait for another process that starts the database: as long as a first start or a recovery may take. */
const ATTACH_MS_MAX = 300_000
const OWN_MS_MAX = 1_000
const POLL_MS = 10
/** Default `max_connections`. One process needs fewer; tests with several processes may set more. */
const CONNECTIONS_MAX = 60

const INITDB_OPTIONS =
  '--username=cartwright --auth=peer --encoding=UTF8 --locale=C --locale-provider=builtin ' +
  '--builtin-locale=C.UTF-8 --no-sync --no-instructions'

/**
 * Runs PostgreSQL as a child process, with its data in `folder`. It never outlives this process, and restarts within seconds
 * when it is killed.
 *
 * Mode `own` starts the server and holds the folder until `stop()`; it fails when another process holds it.
 * Mode `attach` uses the server of a live process that holds the folder (then `stop()` does nothing); without one it is
 * like `own`.
 * @throws OperatorError for problems that the operator can fix.
 */
export async function openEmbeddedPostgres(options: {
  folder: string
  mode: 'own' | 'attach'
  report?: ReportEmbeddedPostgresProgress
  connectionsMax?: number
  /**
   * How long `attach` waits for another process that holds the folder and starts or recovers its database, in milliseconds.
   */
  attachMsMax?: number
}): Promise<RunningEmbeddedPostgres> {
  const { folder, mode, report = () => {}, connectionsMax = CONNECTIONS_MAX } = options
  const waitMsMax = mode === 'own' ? OWN_MS_MAX : (options.attachMsMax ?? ATTACH_MS_MAX)
  const bundle = findPostgresBundle()
  try {
    const place = await findPlace(folder, report)
    const claim = await claimFolder(folder, place.home, mode, waitMsMax)
    if ('url' in claim) return { url: claim.url, stop: async () => {} }
    try {
      return await start(folder, place, bundle, claim, { report, connectionsMax })
    } catch (error) {
      claim.release()
      // On a full disk PostgreSQL cannot report it, because its log is on the same disk.
      throw fs.statfsSync(place.home).bavail === 0 ? diskFull(folder, error) : error
    }
  } catch (error) {
    throw explain(error, folder)
  }
}

/**
 * Decides where the data lie and which system user runs PostgreSQL, which refuses to run as root. As root, that is the owner
 * of the data; for new data and data of the user `nobody`, it is a separate user. A folder that this user cannot reach, such
 * as below /root, only gets a link to the data, which are in the system's folder.
 */
async function findPlace(folder: string, report: ReportEmbeddedPostgresProgress): Promise<Place> {
  createFolder(folder)
  const real = fs.realpathSync(folder)
  const cluster = join(real, 'postgres')
  const existing = fs.existsSync(cluster) ? fs.realpathSync(cluster) : undefined
  if (!existing && fs.lstatSync(cluster, { throwIfNoEntry: false })) {
    const target = fs.readlinkSync(cluster)
    throw new OperatorError(
      `${cluster} points to data that are gone: bring ${target} back, or remove the link to start empty.`
    )
  }
  if (process.getuid?.() !== 0) return { home: existing ? dirname(existing) : real, account: {} }

  if (existing) {
    const { uid, gid } = fs.statSync(existing)
    return {
      home: dirname(existing),
      account: mustChangePostgresFilesOwner(uid) ? await provideDatabaseSystemUser(report) : { uid, gid }
    }
  }
  const account = await provideDatabaseSystemUser(report)
  if (runPostgresProgram(account, '/bin/sh', ['-c', 'test -x "$1"', 'sh', real]).status === 0)
    return { home: real, account }
  const digest = createHash('sha256').update(real).digest('hex').slice(0, 16)
  const home = join(DATABASE_SYSTEM_USER_FOLDER, `data-${digest}`)
  createFolderWithMode(DATABASE_SYSTEM_USER_FOLDER, 0o755)
  createFolderWithMode(home, 0o755)
  return { home, account }
}

async function claimFolder(
  folder: string,
  home: string,
  mode: 'own' | 'attach',
  waitMsMax: number
): Promise<FolderLock | { url: string }> {
  // The holder of the lock writes its pid immediately and its URL when its database is ready.
  const deadline = Date.now() + waitMsMax
  for (;;) {
    const lock = lockFolder(home)
    if (lock) return lock
    const holder = readFolderLockHolder(home)
    if (mode === 'attach' && holder?.url) return { url: holder.url }
    if ((mode === 'own' && holder) || Date.now() > deadline) {
      const name = holder ? `process ${holder.pid}` : 'another process'
      throw new OperatorError(
        `${folder} is in use by ${name}; stop it, or set CARTWRIGHT_DATA to another folder.`
      )
    }
    await delay(POLL_MS)
  }
}

async function start(
  folder: string,
  { home, account }: Place,
  bundle: PostgresBundle,
  lock: FolderLock,
  { report, connectionsMax }: { report: ReportEmbeddedPostgresProgress; connectionsMax: number }
): Promise<RunningEmbeddedPostgres> {
  const cluster = join(home, 'postgres')
  const link = join(folder, 'postgres')
  checkVersion(cluster, bundle)
  removeHalfMade(home)
  const binaries = providePostgresProgramsFolder(bundle, account, home)
  if (!fs.existsSync(cluster)) createCluster(cluster, binaries, account)
  await stopPostmaster(cluster)
  if (account.uid !== undefined && mustChangePostgresFilesOwner(fs.statSync(cluster).uid))
    changeFolderOwner(cluster, account)
  restrictDatabaseLoginsToSystemUsers(cluster, account)
  if (!fs.existsSync(link)) {
    fs.symlinkSync(cluster, link)
    report(`The user that PostgreSQL runs as cannot reach ${folder}, so the data are in ${cluster}.`)
  }

  const sockets = makeSocketFolder(home, account)
  const log = join(home, 'postgres.log')
  const server = new EmbeddedPostgresServer({
    program: join(binaries, 'bin/postgres'),
    cluster,
    sockets,
    log,
    account,
    report,
    connectionsMax
  })
  try {
    await server.start()
  } catch (error) {
    await server.stop()
    throw error
  }
  const url = `postgres://cartwright@${encodeURIComponent(sockets)}/cartwright`
  lock.announce(url)

  const stop = async () => {
    await server.stop()
    if (dirname(sockets) !== home) fs.rmSync(sockets, { recursive: true, force: true })
    lock.release()
  }
  let stopped: Promise<void> | undefined
  return {
    url,
    stop() {
      stopped ??= stop()
      return stopped
    }
  }
}

function checkVersion(cluster: string, { version }: PostgresBundle): void {
  if (!fs.existsSync(cluster)) return
  const elsewhere = 'or set CARTWRIGHT_DATA to another folder.'
  const file = join(cluster, 'PG_VERSION')
  if (!fs.existsSync(file)) {
    throw new OperatorError(`${cluster} is not a database; move it away, ${elsewhere}`)
  }
  const found = fs.readFileSync(file, 'utf8').trim()
  const wanted = version.split('.')[0]
  if (found === wanted) return
  throw new OperatorError(
    `${cluster} holds data of PostgreSQL ${found}, but this Cartwright runs ${wanted}: move the data with ` +
      `pg_dump to a new folder, ${elsewhere}`
  )
}

/** Removes the files of a first start that was killed. */
function removeHalfMade(home: string): void {
  for (const name of fs.readdirSync(home).filter(name => name.startsWith('postgres-new-'))) {
    try {
      fs.rmSync(join(home, name), { recursive: true })
    } catch {
      // The initdb of a process that was just killed still writes there. The next start removes the files.
    }
  }
}

/**
 * Creates a database cluster under a temporary name and renames it when it is complete, so an interrupted creation is never
 * taken for a database.
 */
function createCluster(cluster: string, binaries: string, account: DatabaseSystemUser): void {
  const home = dirname(cluster)
  const fresh = fs.mkdtempSync(join(home, 'postgres-new-'))
  changeFileOwner(account, fresh)
  const initdb = join(binaries, 'bin/initdb')
  const initialised = runPostgresProgram(account, initdb, ['-D', fresh, ...INITDB_OPTIONS.split(' ')])
  // The database is renamed in single-user mode, because that takes 25 ms and creating one on the server takes 60.
  const rename = 'alter database postgres rename to cartwright'
  const single = ['--single', '-F', '-D', fresh, 'template1']
  const renamed =
    initialised.status === 0
      ? runPostgresProgram(account, join(binaries, 'bin/postgres'), single, rename)
      : initialised
  if (renamed.status !== 0 || /^.*(ERROR|FATAL|PANIC):/m.test(renamed.stderr)) {
    fs.rmSync(fresh, { recursive: true, force: true })
    const reason = renamed.error?.message ?? renamed.stderr.trim()
    throw new OperatorError(
      `PostgreSQL could not be set up: set DATABASE_URL to a PostgreSQL server. (${reason})`
    )
  }
  fs.renameSync(fresh, cluster)
  // Flushes the new files to disk in the background, in case of a power cut before the system writes them.
  spawn(initdb, ['--sync-only', '-D', cluster], {
    ...account,
    env: POSTGRES_PROGRAM_ENVIRONMENT,
    detached: true,
    stdio: 'ignore'
  })
    .on('error', () => {})
    .unref()
}

function makeSocketFolder(home: string, account: DatabaseSystemUser): string {
  const beside = join(home, 'postgres-run')
  const isShort = Buffer.byteLength(join(beside, '.s.PGSQL.5432')) <= SOCKET_PATH_BYTES_MAX
  if (isShort) createFolderWithMode(beside, 0o700)
  const sockets = isShort ? beside : fs.mkdtempSync(join(tmpdir(), 'cartwright-'))
  changeFileOwner(account, sockets)
  return sockets
}

const saysDiskFull = (error: unknown): boolean =>
  /No space left on device|disk is full|disk quota exceeded|ENOSPC|EDQUOT/i.test(String(error))

const diskFull = (folder: string, cause: unknown) =>
  new OperatorError(
    `There is no space left on the disk of ${folder}: make room, or set CARTWRIGHT_DATA to another folder.`,
    { cause }
  )

function explain(error: unknown, folder: string): unknown {
  if (saysDiskFull(error)) return diskFull(folder, error)
  if (!isSystemCallError(error)) return error
  return new OperatorError(
    `The data folder ${folder} cannot be used (${error.message}): let this user write it, or set ` +
      'CARTWRIGHT_DATA to another folder.',
    { cause: error }
  )
}
