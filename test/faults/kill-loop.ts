import { randomInt } from 'node:crypto'
import { createHttpClient } from '../support/http-client.ts'
import { type Load, runClient } from './kill-load.ts'
import { findVariantIds, findWrongWrites, openLoad, readSharedCart } from './open-load.ts'
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
 * Several clients write carts of the real program while it and its PostgreSQL are killed in turn. After every kill,
 * all acknowledged writes must be stored. At the end, each write must be stored exactly once, also after a repetition
 * with its key.
 */
export async function killLoop(kills: number, log: (line: string) => void = () => {}): Promise<KillReport> {
  const victim = await createVictim(SETTINGS)
  const http = createHttpClient(victim.origin, CLIENTS + 1)
  const report: KillReport = { kills: 0, acknowledged: 0, retried: 0, longestOutageMs: 0, wrong: [] }
  try {
    await victim.start()
    const variantIds = await findVariantIds(http, CLIENTS + 2)
    const { load, clients } = await openLoad({
      http,
      variantIds,
      label: 'kill',
      pauseMs: 0,
      hangUpPercent: 0
    })
    const fail = (error: unknown) => void report.wrong.push(String(error))
    const running = clients.map(client => runClient(load, client).catch(fail))
    while (report.kills < kills && report.wrong.length === 0) {
      await killOnce(victim, load, report).catch(fail)
      log(
        `${report.kills} kills, ${load.acknowledged} writes acknowledged, ${load.retried} attempts repeated`
      )
    }
    load.isStopping = true
    await Promise.all(running)
    report.wrong.push(...load.unexpectedResponses)
    if (report.wrong.length === 0) {
      await findWrongWrites(load, clients, load.acknowledgedWrites, victim.sql)
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
  const areEnoughAcknowledged = () => load.acknowledged >= enough || report.wrong.length > 0
  await until('enough writes are acknowledged', areEnoughAcknowledged, RECOVERY_MS_MAX)
  const startedAt = performance.now()
  if (report.kills % 2 === 0) {
    await victim.killProcess()
    await victim.start()
  } else {
    await victim.killPostmaster()
  }
  report.kills += 1
  const before = { keyed: load.keyed.acknowledged, unkeyed: load.unkeyed.acknowledged }
  const stored = await readSharedCart(load)
  report.longestOutageMs = Math.max(report.longestOutageMs, Math.round(performance.now() - startedAt))
  for (const kind of ['keyed', 'unkeyed'] as const) {
    const isWithin = stored[kind] >= before[kind] && stored[kind] <= load[kind].sent
    if (isWithin) continue
    const sent = `acknowledged ${before[kind]}, sent ${load[kind].sent}`
    report.wrong.push(`after kill ${report.kills}: ${kind} is ${stored[kind]}, ${sent}`)
  }
}

// By hand: `node test/faults/kill-loop.ts 50`.
if (import.meta.main) {
  const report = await killLoop(Number(process.argv[2] ?? 50), line => process.stdout.write(`${line}\n`))
  process.stdout.write(`${JSON.stringify(report)}\n`)
  process.exit(report.wrong.length === 0 ? 0 : 1)
}
