import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { OperatorError } from '../kernel/errors.ts'
import { type DatabaseSystemUser, POSTGRES_PROGRAM_ENVIRONMENT } from './programs.ts'

export type ReportEmbeddedPostgresProgress = (line: string) => void

const SETTINGS = {
  listen_addresses: '',
  shared_buffers: '128MB',
  wal_level: 'minimal',
  max_wal_senders: 0,
  jit: 'off',
  // Failed statements are not logged, because the client reports them and only a start shortens the log.
  log_min_messages: 'log',
  log_checkpoints: 'off'
}

/**
 * Shell script that runs the server and stops it when standard input ends. This process holds the other end of the pipe,
 * which the kernel closes however the process dies. A server that is still starting ignores SIGINT (fast shutdown), so the
 * script repeats it. After 10 s it sends SIGQUIT (immediate shutdown).
 */
const SUPERVISOR = `
exec 3<&0 </dev/null
"$@" 3<&- &
server=$!
{
  read -r _ <&3
  tries=0
  while [ $tries -lt 100 ] && kill -INT $server; do sleep 0.1; tries=$((tries + 1)); done
  kill -QUIT $server
} 2>/dev/null &
watcher=$!
wait $server
code=$?
kill $watcher
exit $code`

const LOG_BYTES_MAX = 10 * 1024 * 1024
/** Maximum time of a start, which includes crash recovery after heavy writing. */
const START_MS_MAX = 300_000
const SHUTDOWN_MS_MAX = 10_000
const POLL_MS = 5
const RESTART_PAUSE_MS_MIN = 50
const RESTART_PAUSE_MS_MAX = 2_000

type ServerOptions = {
  program: string
  cluster: string
  sockets: string
  log: string
  account: DatabaseSystemUser
  report: ReportEmbeddedPostgresProgress
  connectionsMax: number
}

type Supervisor = { process: ChildProcess; hasEnded: boolean; ended: Promise<void> }

/**
 * The PostgreSQL server of one data folder, which is restarted whenever it ends before `stop()`. The folder must be locked.
 */
export class EmbeddedPostgresServer {
  readonly #options: ServerOptions
  #supervisor: Supervisor | undefined
  #restarting: Promise<void> | undefined
  #isStopping = false

  constructor(options: ServerOptions) {
    this.#options = options
  }

  async start(): Promise<void> {
    await this.#launch()
    this.#restarting = this.#restartForever()
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    this.#supervisor?.process.stdin?.end()
    await stopPostmaster(this.#options.cluster)
    await this.#supervisor?.ended
    await this.#restarting
  }

  async #restartForever(): Promise<void> {
    let pauseMs = RESTART_PAUSE_MS_MIN
    for (;;) {
      await this.#supervisor?.ended
      if (this.#isStopping) return
      this.#options.report('PostgreSQL ended unexpectedly; starting it again.')
      try {
        await this.#launch()
        pauseMs = RESTART_PAUSE_MS_MIN
      } catch (error) {
        this.#options.report(String(error))
        await delay(pauseMs)
        pauseMs = Math.min(pauseMs * 2, RESTART_PAUSE_MS_MAX)
      }
    }
  }

  /** Starts the server. Returns when it accepts connections, or when `stop()` was called. */
  async #launch(): Promise<void> {
    const { cluster, log, sockets } = this.#options
    const deadline = Date.now() + START_MS_MAX
    for (;;) {
      this.#supervisor?.process.stdin?.end()
      const stalePid = await stopPostmaster(cluster)
      if (this.#isStopping) return
      // No server runs any more, and only this process uses the folder of the socket, so its lock file is stale.
      fs.rmSync(join(sockets, '.s.PGSQL.5432.lock'), { force: true })
      const logStart = cutBack(log)
      const isReady = readinessOf(cluster)
      const supervisor = supervise(this.#options, stalePid)
      this.#supervisor = supervisor
      while (!supervisor.hasEnded && Date.now() < deadline) {
        if (isReady()) return
        await delay(POLL_MS)
      }
      if (this.#isStopping) return
      const output = fs.readFileSync(log).subarray(logStart).toString()
      // Backends of a killed server keep its shared memory for some milliseconds, until they notice.
      if (Date.now() < deadline && output.includes('pre-existing shared memory block')) {
        await delay(RESTART_PAUSE_MS_MIN)
        continue
      }
      const reason = output.trim().split('\n').slice(-3).join(' / ')
      throw new OperatorError(`PostgreSQL does not start; mend what its log ${log} says: ${reason}`)
    }
  }
}

function supervise(options: ServerOptions, stalePid: number | undefined): Supervisor {
  const { program, cluster, sockets, log, account, connectionsMax } = options
  const settings = Object.entries({
    ...SETTINGS,
    max_connections: connectionsMax,
    unix_socket_directories: `"${sockets.replaceAll('"', '""')}"`
  })
  const command = [program, '-D', cluster, ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])]
  const output = fs.openSync(log, 'a')
  const child = spawn('/bin/sh', ['-c', SUPERVISOR, 'cartwright-postgres', ...command], {
    ...account,
    // After a restart of the container, the pid in `postmaster.pid` may belong to another process, and PostgreSQL
    // would refuse to start. It ignores the pid in this variable, as pg_ctl uses it, and still waits for the backends
    // of the killed server.
    env: { ...POSTGRES_PROGRAM_ENVIRONMENT, PG_GRANDPARENT_PID: String(stalePid ?? 0) },
    cwd: '/',
    // The server runs in a separate process group, so that Ctrl-C in the terminal does not reach it.
    detached: true,
    stdio: ['pipe', output, output]
  })
  fs.closeSync(output)
  child.stdin?.on('error', () => {})
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  const supervisor = { process: child, hasEnded: false, ended }
  const end = () => {
    supervisor.hasEnded = true
    resolve()
  }
  child.once('exit', end).once('error', end)
  return supervisor
}

/** Replaces a log that is too large by an empty one. Returns the size of the log in bytes. */
function cutBack(log: string): number {
  const size = fs.statSync(log, { throwIfNoEntry: false })?.size ?? 0
  if (size <= LOG_BYTES_MAX) return size
  fs.renameSync(log, `${log}.old`)
  return 0
}

/**
 * Creates a check whether the server that starts now is ready. An earlier server may have left its `postmaster.pid`, so the
 * file must change first.
 */
function readinessOf(cluster: string): () => boolean {
  const path = join(cluster, 'postmaster.pid')
  const modified = () => fs.statSync(path, { throwIfNoEntry: false })?.mtimeMs
  const before = modified()
  return () => modified() !== before && readPidFile(cluster)[7]?.trim() === 'ready'
}

/**
 * Stops a server that still runs on this data folder after its process or supervisor was killed. Returns the pid that a
 * killed server left in `postmaster.pid`; undefined when another PostgreSQL has that pid.
 */
export async function stopPostmaster(cluster: string): Promise<number | undefined> {
  const named = Number(readPidFile(cluster)[0])
  const pid = named > 1 ? named : findPostmaster(cluster)
  if (pid === undefined) {
    // A power cut or a full disk can leave `postmaster.pid` empty, which PostgreSQL takes for another server that is
    // starting.
    fs.rmSync(join(cluster, 'postmaster.pid'), { force: true })
    return undefined
  }
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    if (!isServerOf(cluster, pid)) break
    signalQuietly(pid, signal)
    const deadline = Date.now() + SHUTDOWN_MS_MAX
    while (isServerOf(cluster, pid) && Date.now() < deadline) await delay(POLL_MS)
  }
  if (isServerOf(cluster, pid)) {
    throw new OperatorError(`PostgreSQL (process ${pid}) does not stop; end it with kill -9.`)
  }
  return isPostgres(commandOf(pid)) ? undefined : pid
}

/** Finds the pid of the server of a data folder whose `postmaster.pid` does not contain it. */
function findPostmaster(cluster: string): number | undefined {
  if (!fs.existsSync(join(cluster, 'postmaster.pid'))) return undefined
  return allPids().find(pid => isServerOf(cluster, pid))
}

function allPids(): number[] {
  const names =
    process.platform === 'linux'
      ? fs.readdirSync('/proc')
      : spawnSync('/bin/ps', ['-axo', 'pid='], { encoding: 'utf8' }).stdout.split('\n')
  return names.map(Number).filter(pid => pid > 1)
}

function isServerOf(cluster: string, pid: number): boolean {
  const command = commandOf(pid)
  return isPostgres(command) && [`-D\0${cluster}\0`, `-D ${cluster} `].some(part => command.includes(part))
}

function isPostgres(command: string): boolean {
  return command.split('\0', 1)[0]?.includes('postgres') === true
}

/** The command line of a process; '' when there is none. */
function commandOf(pid: number): string {
  if (process.platform !== 'linux') {
    return spawnSync('/bin/ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout
  }
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has ended meanwhile, or belongs to another user. The caller checks again.
  }
}

function readPidFile(cluster: string): string[] {
  try {
    return fs.readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')
  } catch {
    return []
  }
}
