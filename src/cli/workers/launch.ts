import cluster from 'node:cluster'
import { openProcessChannel } from '../../platform/process-channel.ts'
import type { PrimaryCalls, WorkerCalls, WorkerReport } from './calls.ts'
import { passOnConnections } from './connections.ts'
import type { createMeasurementSums } from './measurements.ts'
import type { WorkerEnd, WorkerProcess } from './supervisor.ts'

const NO_PROCESS: WorkerEnd = { code: null, signal: null }
const WATCH_MS = 1_000
const NANOSECONDS = 1_000_000_000n

type Deps = Pick<PrimaryCalls, 'exchangeBudgetClaims' | 'exposeMetrics'> & {
  count: number
  openDatabase(folder: string): Promise<string>
  sums: ReturnType<typeof createMeasurementSums>
  /** The first process of the command serves requests. */
  onFirstReady(report: WorkerReport): void
  /** The number of workers that serve requests has changed. */
  onReadyCount(count: number): void
  onSilent(worker: { worker: number; pid: number }): void
}
type Health = { progressedAt: bigint; isOutOfConnections: boolean }

/** Starts processes of workers and watches their health. */
export function createWorkerLauncher(deps: Deps) {
  const { count, openDatabase, exchangeBudgetClaims, exposeMetrics, sums } = deps
  const healths = new Map<number, Health>()
  let lastProgressAt = process.hrtime.bigint()
  let launched = 0
  let failed: WorkerEnd | undefined

  function launch(number: number): WorkerProcess {
    launched += 1
    try {
      return fork(number, launched === 1)
    } catch (error) {
      // The system has no memory or no files left. The supervisor tries again later.
      failed ??= NO_PROCESS
      const ready = Promise.reject(error)
      return { pid: 0, ready, ended: Promise.resolve(NO_PROCESS), stop: () => {}, kill: () => {} }
    }
  }

  function fork(number: number, isFirst: boolean): WorkerProcess {
    const forked = cluster.fork()
    // A message to a process that is just ending fails. The end itself is handled below.
    forked.on('error', () => {})
    const { pid = 0 } = forked.process
    if (pid === 0) throw new Error('The system starts no process.')
    passOnConnections(forked)
    const ready = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<WorkerEnd>()
    let health: Health | undefined
    const measure = () => call('measure', null)
    const kill = () => void forked.process.kill('SIGKILL')
    const own: PrimaryCalls = {
      exchangeBudgetClaims,
      exposeMetrics,
      poolStatistics: () => sums.refreshedPool(),
      introduce: () => ({ number, count, isFirst }),
      openDatabase: ({ folder }) => openDatabase(folder),
      ready: report => {
        health = { progressedAt: process.hrtime.bigint(), isOutOfConnections: false }
        healths.set(forked.id, health)
        watch(health, report.config.server.liveness_seconds)
        sums.add(measure)
        if (isFirst) deps.onFirstReady(report)
        deps.onReadyCount(healths.size)
        ready.resolve()
      },
      beat: ({ isOutOfConnections }) => {
        lastProgressAt = process.hrtime.bigint()
        if (health !== undefined) Object.assign(health, { progressedAt: lastProgressAt, isOutOfConnections })
      },
      leave: measured => sums.set(measure, measured)
    }
    const call = openProcessChannel<WorkerCalls>(forked, own)
    /** Kills the process when it makes no progress. */
    function watch(seen: Health, livenessSeconds: number): void {
      const watching = setInterval(() => {
        if (process.hrtime.bigint() - seen.progressedAt < BigInt(livenessSeconds) * NANOSECONDS) return
        deps.onSilent({ worker: number, pid })
        kill()
      }, WATCH_MS).unref()
      ended.promise.finally(() => clearInterval(watching))
    }
    forked.once('exit', (code, signal) => {
      failed ??= { code, signal }
      if (healths.delete(forked.id)) deps.onReadyCount(healths.size)
      sums.remove(measure)
      ready.reject(new Error(`worker ${number} ended`))
      ended.resolve({ code, signal })
    })
    // A process that cannot be reached is gone.
    const stop = (isReplaced: boolean) => void call('stop', { isReplaced }).catch(() => {})
    return { pid, ready: ready.promise, ended: ended.promise, stop, kill }
  }

  return {
    launch,
    /** The exit code of the first process that ended, not 0; `undefined` when all run. */
    failedCode: () => failed && (failed.code || 1),
    readyCount: () => healths.size,
    isOutOfConnections: () => [...healths.values()].some(health => health.isOutOfConnections),
    /** When a worker last made progress, in nanoseconds of the monotonic clock. */
    progressedAt: () => lastProgressAt
  }
}
