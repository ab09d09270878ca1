import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { OperatorError } from '../kernel/errors.ts'

export type Report = (line: string) => void
/** The unprivileged user that PostgreSQL's programs run as; empty: the user of this process. */
export type Account = { uid?: number; gid?: number }

/** Nothing of the parent's: no PG*, no locale. A given TZ spares initdb a search through all time zones. */
export const ENVIRONMENT = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' }

const SETTINGS = {
  listen_addresses: '',
  max_connections: 60,
  shared_buffers: '128MB',
  wal_level: 'minimal',
  max_wal_senders: 0,
  jit: 'off',
  // A failed statement is its client's to report, and the log is only cut back when the server starts: keep it short.
  log_min_messages: 'log',
  log_checkpoints: 'off'
}

/**
 * Runs the server, and stops it when standard input ends: Node holds the other end of that pipe, and the kernel
 * closes it however Node dies. A server that has not yet installed its handlers is deaf to SIGINT (a fast shutdown),
 * hence the loop; a shutdown of more than 10 s becomes an immediate one.
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
/** Crash recovery after heavy writing takes its time. */
const START_MS_MAX = 300_000
const SHUTDOWN_MS_MAX = 10_000
const POLL_MS = 5
const RESTART_PAUSE_MS_MAX = 2_000

type ServerOptions = {
  program: string
  cluster: string
  sockets: string
  log: string
  account: Account
  report: Report
}

type Supervisor = { process: ChildProcess; hasEnded: boolean; ended: Promise<void> }

/** The server process of one cluster, started again whenever it ends before `stop()`. The folder must be locked. */
export class Server {
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
    let pauseMs = POLL_MS
    for (;;) {
      await this.#supervisor?.ended
      if (this.#isStopping) return
      this.#options.report('PostgreSQL ended unexpectedly; starting it again.')
      try {
        await this.#launch()
        pauseMs = POLL_MS
      } catch (error) {
        this.#options.report(String(error))
        await delay(pauseMs)
        pauseMs = Math.min(pauseMs * 2, RESTART_PAUSE_MS_MAX)
      }
    }
  }

  /** Returns when the server accepts connections, or `stop()` was called. */
  async #launch(): Promise<void> {
    const { cluster, log } = this.#options
    const deadline = Date.now() + START_MS_MAX
    for (;;) {
      this.#supervisor?.process.stdin?.end()
      await stopPostmaster(cluster)
      if (this.#isStopping) return
      const logStart = cutBack(log)
      const isReady = readinessOf(cluster)
      const supervisor = supervise(this.#options)
      this.#supervisor = supervisor
      while (!supervisor.hasEnded && Date.now() < deadline) {
        if (isReady()) return
        await delay(POLL_MS)
      }
      if (this.#isStopping) return
      const output = fs.readFileSync(log).subarray(logStart).toString()
      // The backends of a killed server hold its memory until they notice, some milliseconds later.
      if (Date.now() < deadline && output.includes('pre-existing shared memory block')) continue
      const reason = output.trim().split('\n').slice(-3).join(' / ')
      throw new OperatorError(`PostgreSQL does not start; mend what its log ${log} says: ${reason}`)
    }
  }
}

function supervise({ program, cluster, sockets, log, account }: ServerOptions): Supervisor {
  const settings = Object.entries({
    ...SETTINGS,
    unix_socket_directories: `"${sockets.replaceAll('"', '""')}"`
  })
  const command = [program, '-D', cluster, ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])]
  // Nobody else runs this cluster, so this is left over. PostgreSQL would respect it if its pid were in use again.
  fs.rmSync(join(sockets, '.s.PGSQL.5432.lock'), { force: true })
  const output = fs.openSync(log, 'a')
  const child = spawn('/bin/sh', ['-c', SUPERVISOR, 'cartwright-postgres', ...command], {
    ...account,
    env: ENVIRONMENT,
    cwd: '/',
    // A process group of its own, which Ctrl-C in the terminal does not reach.
    detached: true,
    stdio: ['pipe', output, output]
  })
  fs.closeSync(output)
  child.stdin.on('error', () => {})
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  const supervisor = { process: child, hasEnded: false, ended }
  const end = () => {
    supervisor.hasEnded = true
    resolve()
  }
  child.once('exit', end).once('error', end)
  return supervisor
}

/** The size of the log, which starts anew when it has grown too large. */
function cutBack(log: string): number {
  const size = fs.statSync(log, { throwIfNoEntry: false })?.size ?? 0
  if (size <= LOG_BYTES_MAX) return size
  fs.renameSync(log, `${log}.old`)
  return 0
}

/** A check whether a server started from now on is ready: `postmaster.pid` may be left from one before. */
function readinessOf(cluster: string): () => boolean {
  const path = join(cluster, 'postmaster.pid')
  const modified = () => fs.statSync(path, { throwIfNoEntry: false })?.mtimeMs
  const before = modified()
  return () => modified() !== before && readPidFile(cluster)[7]?.trim() === 'ready'
}

/** Stops whatever server still runs this cluster: its Node died a moment ago, or its supervisor was killed too. */
async function stopPostmaster(cluster: string): Promise<void> {
  const pid = Number(readPidFile(cluster)[0])
  if (!(pid > 1)) return
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    if (runningServer(pid, cluster) !== 'this') break
    signalQuietly(pid, signal)
    const deadline = Date.now() + SHUTDOWN_MS_MAX
    while (runningServer(pid, cluster) === 'this' && Date.now() < deadline) await delay(POLL_MS)
  }
  const running = runningServer(pid, cluster)
  if (running === 'this')
    throw new OperatorError(`PostgreSQL (process ${pid}) does not stop; end it with kill -9.`)
  // After a reboot, or in a container started again, the pid may be anybody's, and PostgreSQL would respect it.
  if (running === 'none') fs.rmSync(join(cluster, 'postmaster.pid'), { force: true })
}
