import cluster from 'node:cluster'
import { isatty } from 'node:tty'
import { shareRenderings } from '../../gateway/diagnostics/metrics.ts'
import { type DiagnosticsHttpServer, openDiagnosticsHttpServer } from '../../gateway/diagnostics/port.ts'
import { createBudgetLedger } from '../../kernel/shared-request-budgets.ts'
import { type Log, openLog } from '../../platform/log.ts'
import type { CollectedMetric } from '../../platform/worker-link.ts'
import { openEmbeddedDatabase, openEmbeddedDatabaseEarly, type RunningDatabase } from '../database.ts'
import { createStopOnce, FORCED_EXIT_MS, onStopSignal } from '../stop-signal.ts'
import type { WorkerReport } from './calls.ts'
import { createWorkerLauncher } from './launch.ts'
import { createMeasurementSums } from './measurements.ts'
import { createWorkerSupervisor } from './supervisor.ts'

/** The embedded database accepts this many connections for each worker, and for other processes. */
const CONNECTIONS_PER_WORKER = 30
const OTHER_CONNECTIONS = 60
/** A worker forces its own exit before the primary process does. */
const FORCED_EXIT_MARGIN_MS = 2_000

/**
 * Runs `count` workers that share one port, one embedded database, one diagnostics port and their limits, until a stop signal.
 * SIGHUP replaces the workers one after another. Exits with the code of a worker that ends during the start.
 */
export async function startWorkers(count: number): Promise<void> {
  // This process accepts connections and deals them out. Workers that accept themselves got 1 to 15 of 16 (2026-11).
  cluster.schedulingPolicy = cluster.SCHED_RR
  const connectionsMax = OTHER_CONNECTIONS + count * CONNECTIONS_PER_WORKER
  let opening = openEmbeddedDatabaseEarly(connectionsMax)
  const openDatabase = async (folder: string): Promise<string> => {
    opening ??= openEmbeddedDatabase(folder, 'own', { connectionsMax })
    return (await opening).url
  }
  let log: Log = openLog({ level: 'info' })
  let first: WorkerReport | undefined
  let diagnostics: DiagnosticsHttpServer | undefined
  const sums = createMeasurementSums()
  const exposeMetrics = shareRenderings(() =>
    sums.expose(metricsOf({ ready: launcher.readyCount(), restarts: supervisor.restarts() }))
  )
  const launcher = createWorkerLauncher({
    count,
    openDatabase,
    exposeMetrics,
    sums,
    exchangeBudgetClaims: createBudgetLedger(),
    onFirstReady: report => {
      first = report
      log = openLog(report.config.log)
    },
    onReadyCount: ready => diagnostics?.hold(supervisor.isStopping() || ready === 0),
    onSilent: worker => log.error(worker, 'a worker makes no progress; it is killed')
  })
  const supervisor = createWorkerSupervisor({ count, log: () => log, launch: launcher.launch })
  process.once('exit', supervisor.kill)

  const stop = async (): Promise<boolean> => {
    diagnostics?.hold(true)
    const isComplete = await supervisor.stop()
    await diagnostics?.close()
    await stopDatabase(opening)
    return isComplete
  }
  const say = (line: string) => first?.config.log.level !== 'silent' && process.stdout.write(`${line}\n`)
  const msMax = () => (first?.drainMs ?? 0) + FORCED_EXIT_MS + FORCED_EXIT_MARGIN_MS
  const stopOnce = createStopOnce({ msMax, say }, stop)
  onStopSignal(stopOnce)
  onHangUp(supervisor.roll, () => stopOnce(0))
  try {
    await supervisor.start()
    if (first !== undefined && first.config.server.diagnostics_port !== 0)
      diagnostics = await openDiagnosticsHttpServer({
        config: first.config,
        databaseUrl: first.databaseUrl,
        log,
        db: {
          statistics: sums.pool,
          isOutOfConnections: launcher.isOutOfConnections,
          replicaStatistics: sums.replica
        },
        metrics: { expose: exposeMetrics },
        progressedAt: launcher.progressedAt
      })
  } catch (error) {
    if (supervisor.isStopping()) return
    // A worker that ended has written why.
    const code = launcher.failedCode()
    await stop()
    if (code === undefined) throw error
    process.exit(code)
  }
  process.stdout.write(first?.welcome ?? '')
}

const metricsOf = ({ ready, restarts }: { ready: number; restarts: number }): CollectedMetric[] => [
  {
    name: 'cartwright_workers',
    help: 'Workers that serve requests.',
    type: 'gauge',
    values: [{ labels: {}, value: ready }]
  },
  {
    name: 'cartwright_worker_restarts_total',
    help: 'Workers that were started again because they had ended.',
    type: 'counter',
    values: [{ labels: {}, value: restarts }]
  }
]

async function stopDatabase(opening: Promise<RunningDatabase> | undefined): Promise<void> {
  const database = await opening?.catch(() => undefined)
  await database?.stop()
}

/** Calls `roll` on SIGHUP, or `stop` when the terminal was closed, which sends the same signal. */
function onHangUp(roll: () => void, stop: () => void): void {
  const hadTerminal = isatty(0)
  process.on('SIGHUP', () => (hadTerminal && !isatty(0) ? stop() : roll()))
}
