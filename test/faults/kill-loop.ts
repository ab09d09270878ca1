import { randomInt } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { newId } from '../../src/kernel/ids.ts'
import { type Answer, createHttpClient, type HttpClient } from '../support/http-client.ts'
import { createVictim, type Victim } from './victim.ts'

const CLIENTS = 8
const RETRY_PAUSE_MS = 25
const RECOVERY_MS_MAX = 60_000

export type KillReport = {
  kills: number
  acknowledged: number
  /** Tries that got no answer, or 503, or 409 because an earlier try was still claimed. */
  retried: number
  longestOutageMs: number
  /** Everything that was not as it ought to be; empty when all is well. */
  wrong: string[]
}
/** How much of something was sent, and how much of it was acknowledged. */
type Sum = { started: number; acknowledged: number }
type Load = {
  http: HttpClient
  shared: { customer: string; keyed: string; unkeyed: string }
  keyed: Sum
  unkeyed: Sum
  report: KillReport
  stopping: boolean
}

/**
 * Writes carts from several clients at once, and kills the process and its PostgreSQL in turn. After every kill all
 * that was acknowledged must be there; in the end, when every request was repeated with its key until it was
 * answered, everything must be there exactly once.
 */
export async function killLoop(kills: number, log: (line: string) => void = () => {}): Promise<KillReport> {
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-faults-'))
  await chmod(folder, 0o755)
  const shared = { customer: newId(), keyed: newId(), unkeyed: newId() }
  const lines = Array.from({ length: CLIENTS }, newId)
  const victim = createVictim(folder, [shared.keyed, shared.unkeyed, ...lines])
  const report: KillReport = { kills: 0, acknowledged: 0, retried: 0, longestOutageMs: 0, wrong: [] }
  try {
    await victim.start()
    const load: Load = {
      http: createHttpClient(victim.origin(), CLIENTS + 1),
      shared,
      keyed: { started: 0, acknowledged: 0 },
      unkeyed: { started: 0, acknowledged: 0 },
      report,
      stopping: false
    }
    const clients = lines.map(line => runClient(load, line).catch(error => report.wrong.push(String(error))))
    while (report.kills < kills && report.wrong.length === 0) {
      await killOnce(victim, load)
      log(
        `${report.kills} kills, ${report.acknowledged} writes acknowledged, ${report.retried} tries repeated`
      )
    }
    load.stopping = true
    await Promise.all(clients)
    await checkEnd(victim, load)
    load.http.close()
  } finally {
    await victim.stop()
    await rm(folder, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 })
  }
  return report
}

async function killOnce(victim: Victim, load: Load): Promise<void> {
  const { report } = load
  const enough = report.acknowledged + randomInt(20, 150)
  await until(async () => report.acknowledged >= enough || report.wrong.length > 0)
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
    report.wrong.push(
      `after kill ${report.kills}: ${kind} is ${stored[kind]}, acknowledged ${before[kind]}, sent ${load[kind].started}`
    )
  }
  // Leases of whom the kill took run out in half a minute; nobody here waits so long.
  await victim.sql(`update cartwright.idempotency_keys set lease_until = now() where state <> 'done'`)
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + RECOVERY_MS_MAX
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error('it takes too long')
    await delay(5)
  }
}

/** The shared cart, as soon as somebody answers. */
async function readShared({ http, shared }: Load): Promise<{ keyed: number; unkeyed: number }> {
  let answer: Answer | undefined
  await until(async () => {
    answer = await http.send('GET', '/api/cart', { token: shared.customer })
    return answer?.status === 200
  })
  const items: { variant_id: string; quantity: number }[] = answer?.json.items
  const quantityOf = (id: string) => items.find(item => item.variant_id === id)?.quantity ?? 0
  return { keyed: quantityOf(shared.keyed), unkeyed: quantityOf(shared.unkeyed) }
}

/** Repeats a request with its key until it is answered. */
async function insist(load: Load, token: string | undefined, method: string, path: string, body: unknown) {
  const headers = { 'idempotency-key': newId() }
  const deadline = performance.now() + RECOVERY_MS_MAX
  const who = token === undefined ? {} : { token }
  for (;;) {
    const answer = await load.http.send(method, path, { ...who, headers, body })
    if (answer !== undefined && answer.status < 300) {
      load.report.acknowledged += 1
      return answer
    }
    load.report.retried += 1
    const mayRepeat =
      answer === undefined || answer.status === 503 || answer.json.code === 'IDEMPOTENCY_KEY_IN_PROGRESS'
    if (!mayRepeat || performance.now() > deadline) {
      throw new Error(`${method} ${path} was answered ${answer?.status} ${JSON.stringify(answer?.json)}`)
    }
    await delay(RETRY_PAUSE_MS)
  }
}

async function runClient(load: Load, line: string): Promise<void> {
  const { http, shared, keyed, unkeyed, report } = load
  const me = newId()
  let own = 0
  const grow = async (quantity: number, write: () => Promise<unknown>) => {
    keyed.started += quantity
    await write()
    keyed.acknowledged += quantity
  }
  const operations = [
    () =>
      grow(2, () =>
        insist(load, shared.customer, 'POST', '/api/cart', { variant_id: shared.keyed, quantity: 2 })
      ),
    () =>
      grow(3, async () => {
        const item = { variant_id: shared.keyed, quantity: 3 }
        const guest = await insist(load, undefined, 'POST', '/api/guest-cart', item)
        const body = { guest_cart_token: guest.json.guest_cart_token }
        await insist(load, shared.customer, 'POST', '/api/cart/merge', body)
      }),
    async () => {
      unkeyed.started += 1
      const body = { variant_id: shared.unkeyed, quantity: 1 }
      const answer = await http.send('POST', '/api/cart', { token: shared.customer, body })
      if (answer?.status !== 200) return
      unkeyed.acknowledged += 1
      report.acknowledged += 1
    },
    async () => {
      await insist(load, me, 'POST', '/api/cart', { variant_id: line, quantity: 1 })
      own += 1
    },
    async () => {
      const quantity = randomInt(1, 1_000)
      const path = own === 0 ? '/api/cart' : `/api/cart/items/${line}`
      if (own === 0) await insist(load, me, 'POST', path, { variant_id: line, quantity })
      else await insist(load, me, 'PUT', path, { quantity })
      own = quantity
    },
    async () => {
      await insist(load, me, 'DELETE', '/api/cart', undefined)
      own = 0
    }
  ]
  while (!load.stopping) {
    await operations[randomInt(operations.length)]?.()
    const answer = await http.send('GET', '/api/cart/count', { token: me })
    if (answer?.status !== 200) continue
    if (answer.json.count !== own) throw new Error(`a client wrote ${own} and reads ${answer.json.count}`)
  }
}

async function checkEnd(victim: Victim, load: Load): Promise<void> {
  const { report } = load
  const stored = await readShared(load)
  if (report.wrong.length === 0 && stored.keyed !== load.keyed.acknowledged) {
    report.wrong.push(`in the end ${stored.keyed} were stored and ${load.keyed.acknowledged} acknowledged`)
  }
  if (stored.unkeyed < load.unkeyed.acknowledged || stored.unkeyed > load.unkeyed.started) {
    report.wrong.push(`without keys, in the end: ${stored.unkeyed} of ${JSON.stringify(load.unkeyed)}`)
  }
  const torn = await victim.sql(`
    select c.customer_id from cart.carts c left join cart.items i on i.customer_id = c.customer_id
    group by c.customer_id having c.quantity <> coalesce(sum(i.quantity), 0) or c.distinct_count <> count(i.*)`)
  if (torn.length > 0) report.wrong.push(`carts whose sums are not those of their items: ${torn.length}`)
}

// By hand: `node test/faults/kill-loop.ts 50`.
if (import.meta.main) {
  const report = await killLoop(Number(process.argv[2] ?? 50), line => process.stdout.write(`${line}\n`))
  process.stdout.write(`${JSON.stringify(report)}\n`)
  process.exit(report.wrong.length === 0 ? 0 : 1)
}
