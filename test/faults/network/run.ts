import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { runClient } from '../kill-load.ts'
import { findVariantIds, findWrongWrites, openLoad } from '../open-load.ts'
import { evaluateFault } from './evaluate-fault.ts'
import { type Fault, faults } from './faults.ts'
import { type FaultResult, formatReport, formatResult } from './report.ts'
import { openShopUnderFaults, type ShopUnderFaults } from './shop-under-faults.ts'
import { createTraffic } from './traffic.ts'
import { browseCatalog, probeProcesses, refreshTokens, registerVisitors } from './visitors.ts'

const CLIENTS = 8
const CLIENT_BEHAVIOR = { pauseMs: 60, hangUpPercent: 5 }
const WARM_UP_MS = 1_000
/** Retried operations may take 3 s; another second is the tolerance. */
const RECOVERY_MS = 4_000
/** Number of acknowledged writes that are repeated at the end. */
const REPEATED_WRITES_MAX = 200
const NANOSECONDS_PER_MS = 1e6

/** Plants each fault in a shop of this many processes under load, and evaluates each outcome. */
export async function runFaults(
  processes: number,
  chosen: readonly Fault[],
  log: (line: string) => void = () => {}
): Promise<FaultResult[]> {
  const site = await openShopUnderFaults(processes)
  try {
    const traffic = createTraffic(site.processes.map(({ origin }) => origin))
    const variantIds = await findVariantIds(traffic.anywhere, CLIENTS + 2)
    traffic.anywhere.close()
    const results: FaultResult[] = []
    for (const fault of chosen.filter(({ processesMin }) => processesMin <= processes)) {
      const result = await runFault(site, fault, variantIds, `${processes}-${results.length}`)
      results.push(result)
      for (const line of formatResult(result)) log(line)
    }
    return results
  } finally {
    await site.close()
  }
}

async function runFault(
  site: ShopUnderFaults,
  fault: Fault,
  variantIds: string[],
  label: string
): Promise<FaultResult> {
  const processes = site.processes.length
  const traffic = createTraffic(site.processes.map(({ origin }) => origin))
  const { load, clients } = await openLoad({ ...CLIENT_BEHAVIOR, http: traffic.anywhere, variantIds, label })
  const wrongWrites: string[] = []
  const fail = (error: unknown) => void wrongWrites.push(String(error))
  site.takeLogLines()
  const stalls = monitorEventLoopDelay({ resolution: 10 })
  stalls.enable()
  traffic.attempts.length = 0
  const running = [
    ...clients.map(client => runClient(load, client)),
    probeProcesses(traffic, load, variantIds[0] as string),
    browseCatalog(load),
    registerVisitors(load, label),
    refreshTokens(load, label)
  ].map(work => work.catch(fail))
  await delay(WARM_UP_MS)

  const removeFault = await fault.plant(site)
  await delay(fault.seconds * 1_000)
  await removeFault()
  const faultRemovedAt = performance.now()
  await delay(RECOVERY_MS)

  load.isStopping = true
  await Promise.all(running)
  stalls.disable()
  const attempts = [...traffic.attempts]
  const operations = [...load.operations]
  const endedProcesses = await site.recover()
  const repeated = load.acknowledgedWrites.toSorted(() => Math.random() - 0.5).slice(0, REPEATED_WRITES_MAX)
  await findWrongWrites(load, clients, repeated, site.sql).then(wrong => wrongWrites.push(...wrong), fail)
  traffic.anywhere.close()
  const stallMs = stalls.max / NANOSECONDS_PER_MS
  const verdict = evaluateFault({
    ...fault,
    processes,
    attempts,
    operations,
    faultRemovedAt,
    endedProcesses,
    wrongWrites,
    stallMs
  })
  return { ...verdict, fault: fault.name, processes, logged: site.takeLogLines() }
}

// By hand: `npm run faults:network -- --processes 1,3 --only COMMIT`.
if (import.meta.main) {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  const { values } = parseArgs({
    options: {
      processes: { type: 'string', default: '1,3' },
      only: { type: 'string', default: '' }
    }
  })
  const chosen = faults.filter(({ name }) => name.includes(values.only))
  const results: FaultResult[] = []
  for (const count of values.processes.split(',')) {
    results.push(...(await runFaults(Number(count), chosen, line => process.stdout.write(`${line}\n`))))
  }
  process.stdout.write(`\n${formatReport(results)}\n`)
  process.exit(results.every(({ broken }) => broken.length === 0) ? 0 : 1)
}
