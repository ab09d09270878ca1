import { randomInt } from 'node:crypto'
import { createHttpClient } from '../support/http-client.ts'
import { checkBooks, openLoad, readShared, someVariants } from './books.ts'
import { type Load, runClient } from './kill-load.ts'
import { until } from './until.ts'
import { createVictim, type Victim } from './victim.ts'

const CLIENTS = 8
const RECOVERY_MS_MAX = 60_000
const SETTINGS = {
  CARTWRIGHT__RATE_LIMIT__ENABLED: 'false',
  CARTWRIGHT__AUTH__ACCESS_TOKEN_SECONDS: '86400',
  CARTWRIGHT__CART__LINE_QUANTITY_MAX: '100000',
  // Carts get more units than the demo has.
  CARTWRIGHT__MODULES__INVENTORY__ENABLED: 'false',
  CARTWRIGHT__LOG__LEVEL: 'error'
}

export type KillReport = {
  kills: number
  acknowledged: number
  retried: number
  longestOutageMs: number
  /** The broken guarantees. */
  wrong: string[]
}

/**
 * Writes carts of the real program from several clients at once, and kills the program and its PostgreSQL in turn.
 * After every kill all that was acknowledged must be there; in the end, when every request was repeated with its key
 * until it was answered, and again afterwards, everything must be there exactly once.
 */
export async function killLoop(kills: number, log: (line: string) => void = () => {}): Promise<KillReport> {
  const victim = await createVictim(SETTINGS)
  const http = createHttpClient(victim.origin, CLIENTS + 1)
  const report: KillReport = { kills: 0, acknowledged: 0, retried: 0, longestOutageMs: 0, wrong: [] }
  try {
    await victim.start()
    const variantIds = await someVariants(http, CLIENTS + 2)
    const { load, clients } = await openLoad({
      http,
      variantIds,
      label: 'kill',
      pauseMs: 0,
      hangsUpOfHundred: 0
    })
    const fail = (error: unknown) => void report.wrong.push(String(error))
    const running = clients.map(client => runClient(load, client).catch(fail))
    while (report.kills < kills && report.wrong.length === 0) {
      await killOnce(victim, load, report).catch(fail)
      log(`${report.kills} kills, ${load.acknowledged} writes acknowledged, ${load.retried} tries repeated`)
    }
    load.stopping = true
    await Promise.all(running)
    report.wrong.push(...load.unexpected)
    if (report.wrong.length === 0) {
      await checkBooks(load, clients, load.written, victim.sql)
        .then(wrong => report.wrong.push(...wrong))
        .catch(fail)
    }
    const { acknowledged, retried } = load
    return { ...report, acknowledged, retried }
  } finally {
    http.close()
    await victim.remove()
  }
}

async function killOnce(victim: Victim, load: Load, report: KillReport): Promise<void> {
  const enough = load.acknowledged + randomInt(20, 150)
  const isTime = () => load.acknowledged >= enough || report.wrong.length > 0
  await until('enough writes are acknowledged', isTime, RECOVERY_MS_MAX)
  const startedAt = performance.now()
  if (report.kills % 2 === 0) {
    await victim.killProcess()
    await victim.start()
  } else {
    await victim.killPostmaster()
  }
  report.kills += 1
  const before = { keyed: load.keyed.acknowledged, unkeyed: load.unkeyed.acknowledged }
  const stored = await readShared(load)
  report.longestOutageMs = Math.max(report.longestOutageMs, Math.round(performance.now() - startedAt))
  for (const kind of ['keyed', 'unkeyed'] as const) {
    const isWithin = stored[kind] >= before[kind] && stored[kind] <= load[kind].started
    if (isWithin) continue
    const sent = `acknowledged ${before[kind]}, sent ${load[kind].started}`
    report.wrong.push(`after kill ${report.kills}: ${kind} is ${stored[kind]}, ${sent}`)
  }
}

// By hand: `node test/faults/kill-loop.ts 50`.
if (import.meta.main) {
  const report = await killLoop(Number(process.argv[2] ?? 50), line => process.stdout.write(`${line}\n`))
  process.stdout.write(`${JSON.stringify(report)}\n`)
  process.exit(report.wrong.length === 0 ? 0 : 1)
}
