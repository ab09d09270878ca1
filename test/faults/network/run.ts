import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { checkBooks, openLoad, someVariants } from '../books.ts'
import { runClient } from '../kill-load.ts'
import { type Fault, faults } from './faults.ts'
import { judge } from './judge.ts'
import { detailsOf, type Result, reportOf } from './report.ts'
import { openSite, type Site } from './site.ts'
import { createTraffic } from './traffic.ts'
import { browse, probe, refresh, register } from './visitors.ts'

const CLIENTS = 8
const HABITS = { pauseMs: 20, hangsUpOfHundred: 5 }
const WARM_UP_MS = 1_000
/** As long as retried operations may take, and a little. */
const AFTERWARDS_MS = 4_000
/** Number of acknowledged writes that are repeated at the end. */
const REPEATED_MAX = 200
const NANOSECONDS_PER_MS = 1e6

/** Plants each fault in a shop of this many processes under load, and judges the outcome. */
export async function runFaults(
  processes: number,
  chosen: readonly Fault[],
  log: (line: string) => void = () => {}
): Promise<Result[]> {
  const site = await openSite(processes)
  try {
    const traffic = createTraffic(site.processes.map(({ origin }) => origin))
    const variantIds = await someVariants(traffic.anywhere, CLIENTS + 2)
    traffic.anywhere.close()
    const results: Result[] = []
    for (const fault of chosen.filter(({ processesMin }) => processesMin <= processes)) {
      const result = await runFault(site, fault, variantIds, `${processes}-${results.length}`)
      results.push(result)
      for (const line of detailsOf(result)) log(line)
    }
    return results
  } finally {
    await site.close()
  }
}

async function runFault(site: Site, fault: Fault, variantIds: string[], label: string): Promise<Result> {
  const processes = site.processes.length
  const traffic = createTraffic(site.processes.map(({ origin }) => origin))
  const { load, clients } = await openLoad({ ...HABITS, http: traffic.anywhere, variantIds, label })
  const books: string[] = []
  const fail = (error: unknown) => void books.push(String(error))
  site.logged()
  const stalls = monitorEventLoopDelay({ resolution: 10 })
  stalls.enable()
  traffic.tries.length = 0
  const running = [
    ...clients.map(client => runClient(load, client)),
    probe(traffic, load, variantIds[0] as string),
    browse(load),
    register(load, label),
    refresh(load, label)
  ].map(work => work.catch(fail))
  await delay(WARM_UP_MS)

  const mend = await fault.plant(site)
  await delay(fault.seconds * 1_000)
  await mend()
  const mendedAt = performance.now()
  await delay(AFTERWARDS_MS)

  load.stopping = true
  await Promise.all(running)
  stalls.disable()
  const tries = [...traffic.tries]
  const operations = [...load.operations]
  const ended = await site.tidy()
  const repeated = load.written.toSorted(() => Math.random() - 0.5).slice(0, REPEATED_MAX)
  await checkBooks(load, clients, repeated, site.sql).then(wrong => books.push(...wrong), fail)
  traffic.anywhere.close()
  const stallMs = stalls.max / NANOSECONDS_PER_MS
  const verdict = judge({ ...fault, processes, tries, operations, mendedAt, ended, books, stallMs })
  return { ...verdict, fault: fault.name, processes, logged: site.logged() }
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
  const results: Result[] = []
  for (const count of values.processes.split(',')) {
    results.push(...(await runFaults(Number(count), chosen, line => process.stdout.write(`${line}\n`))))
  }
  process.stdout.write(`\n${reportOf(results)}\n`)
  process.exit(results.every(({ broken }) => broken.length === 0) ? 0 : 1)
}
