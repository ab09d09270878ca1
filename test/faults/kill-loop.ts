import { randomInt } from 'node:crypto'
import { type Answer, createHttpClient, type HttpClient } from '../support/http-client.ts'
import { type Client, expectOwn, insist, type Load, runClient } from './kill-load.ts'
import { until } from './until.ts'
import { createVictim, type Victim } from './victim.ts'

const CLIENTS = 8
const RECOVERY_MS_MAX = 60_000
const SETTINGS = {
  CARTWRIGHT__RATE_LIMIT__ENABLED: 'false',
  CARTWRIGHT__AUTH__ACCESS_TOKEN_SECONDS: '86400',
  CARTWRIGHT__CART__LINE_QUANTITY_MAX: '100000',
  CARTWRIGHT__LOG__LEVEL: 'error'
}

export type KillReport = {
  kills: number
  acknowledged: number
  retried: number
  longestOutageMs: number
  /** Everything that was not as it ought to be; empty when all is well. */
  wrong: string[]
}

/**
 * Writes carts of the real program from several clients at once, and kills the program and its PostgreSQL in turn.
 * After every kill all that was acknowledged must be there; in the end, when every request was repeated with its key
 * until it was answered, and then once more, everything must be there exactly once.
 */
export async function killLoop(kills: number, log: (line: string) => void = () => {}): Promise<KillReport> {
  const victim = await createVictim(SETTINGS)
  const http = createHttpClient(victim.origin, CLIENTS + 1)
  const report: KillReport = { kills: 0, acknowledged: 0, retried: 0, longestOutageMs: 0, wrong: [] }
  try {
    await victim.start()
    const { load, clients } = await openLoad(http)
    const fail = (error: unknown) => void report.wrong.push(String(error))
    const running = clients.map(client => runClient(load, client).catch(fail))
    while (report.kills < kills && report.wrong.length === 0) {
      await killOnce(victim, load, report).catch(fail)
      log(`${report.kills} kills, ${load.acknowledged} writes acknowledged, ${load.retried} tries repeated`)
    }
    load.stopping = true
    await Promise.all(running)
    if (report.wrong.length === 0) await checkEnd(victim, load, clients, report).catch(fail)
    const { acknowledged, retried } = load
    return { ...report, acknowledged, retried }
  } finally {
    http.close()
    await victim.remove()
  }
}

/** Accounts and variants for everybody. */
async function openLoad(http: HttpClient): Promise<{ load: Load; clients: Client[] }> {
  const [keyed = '', unkeyed = '', ...variantIds] = await someVariants(http, CLIENTS + 2)
  const token = await register(http, 'shared@example.com')
  const clients: Client[] = []
  for (const variantId of variantIds) {
    const email = `client-${clients.length}@example.com`
    clients.push({ token: await register(http, email), variantId, own: 0 })
  }
  const load: Load = {
    http,
    shared: { token, keyed, unkeyed },
    keyed: { started: 0, acknowledged: 0 },
    unkeyed: { started: 0, acknowledged: 0 },
    acknowledged: 0,
    retried: 0,
    written: [],
    stopping: false
  }
  return { load, clients }
}

async function register(http: HttpClient, email: string): Promise<string> {
  const body = { email, password: 'an uncommon sentence' }
  const answer = await http.send('POST', '/api/auth/register', { body })
  if (answer?.status !== 201) throw new Error(`${email} cannot register: ${JSON.stringify(answer)}`)
  return answer.json.access_token
}

async function someVariants(http: HttpClient, count: number): Promise<string[]> {
  const products: { id: string }[] = (await http.send('GET', '/api/products'))?.json.items
  const ids: string[] = []
  for (const { id } of products) {
    const product = await http.send('GET', `/api/products/${id}`)
    const variants: { id: string }[] = product?.json.variants ?? []
    ids.push(...variants.map(variant => variant.id))
  }
  if (ids.length < count) throw new Error(`the demo catalog shows ${ids.length} variants, not ${count}`)
  return ids.slice(0, count)
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
  await endLeases(victim)
}

/** Leases of whom a kill took run out in half a minute; nobody here waits so long. */
const endLeases = (victim: Victim) =>
  victim.sql(`update cartwright.idempotency_keys set lease_until = now() where state <> 'done'`)

/** An answer, as soon as somebody gives one. */
async function read(http: HttpClient, path: string, token: string): Promise<Answer> {
  let answer: Answer | undefined
  const isAnswered = async () => {
    answer = await http.send('GET', path, { token })
    return answer?.status === 200
  }
  await until(`${path} is answered`, isAnswered, RECOVERY_MS_MAX)
  return answer as Answer
}

async function readShared({ http, shared }: Load): Promise<{ keyed: number; unkeyed: number }> {
  const { json } = await read(http, '/api/cart', shared.token)
  const items: { variant_id: string; quantity: number }[] = json.items
  const quantityOf = (id: string) => items.find(item => item.variant_id === id)?.quantity ?? 0
  return { keyed: quantityOf(shared.keyed), unkeyed: quantityOf(shared.unkeyed) }
}

async function checkEnd(victim: Victim, load: Load, clients: Client[], report: KillReport): Promise<void> {
  const settled = await readShared(load)
  if (settled.keyed !== load.keyed.acknowledged) {
    report.wrong.push(`in the end ${settled.keyed} were stored and ${load.keyed.acknowledged} acknowledged`)
  }
  if (settled.unkeyed < load.unkeyed.acknowledged || settled.unkeyed > load.unkeyed.started) {
    report.wrong.push(`without keys, in the end: ${settled.unkeyed} of ${JSON.stringify(load.unkeyed)}`)
  }
  await endLeases(victim)
  for (const write of load.written) await insist(load, write)
  const repeated = await readShared(load)
  if (repeated.keyed !== settled.keyed) {
    report.wrong.push(`repeating what was acknowledged made ${settled.keyed} into ${repeated.keyed}`)
  }
  for (const client of clients) expectOwn(client, await read(load.http, '/api/cart/count', client.token))
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
