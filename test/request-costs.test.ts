// Lane alone: in a process that ran other tests before, collecting the garbage of a request costs more.
import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { standardModules } from '../src/app.ts'
import { BODY_BYTES_CHARGED_AS_REQUEST } from '../src/gateway/callers/rate-limits.ts'
import { createTestApp, type TestApp } from './support/app.ts'
import { type Case, realCases } from './support/costly-requests.ts'
import type { BodySchema } from './support/largest-body.ts'
import { median } from './support/median.ts'
import { createPlanted } from './support/planted-costs.ts'
import { resolveReferences } from './support/references.ts'
import { worstBodies } from './support/worst-bodies.ts'

/** What a request may cost for each request that it counts as, in writes to an empty cart. */
const MULTIPLE_MAX = 2
/** Requests a minute that the tiers of shoppers allow: an operation with a limit of its own counts as a share of them. */
const TIER_PER_MINUTE = 1_200
const PASSWORD = 'nine lives and a piano'
const ADMIN = { email: 'boss@shop.example', password: PASSWORD }
const WRITES = 60
/** One figure may be noise: what seems too much is measured again, by turns with writes, and longer each time. */
const ROUNDS_AGAIN = [5, 15, 45]

type Operation = {
  security?: { bearer: string[] }[]
  requestBody?: { content: Record<string, { schema: BodySchema } | undefined> }
  'x-body-bytes-max'?: number
  'x-counts-as'?: number
  'x-requests-per-minute'?: number
}
/** Milliseconds of CPU: of this thread, and of PostgreSQL for the statements. */
type Cost = { main: number; database: number; status: number }
type Pair = { unit: Cost; cost: Cost }

let app: TestApp
let watcher: pg.Client
let token: string
/** Of the customer whose empty cart is written to. */
let writer: string
const planted = createPlanted()
beforeAll(async () => {
  const settings = {
    CARTWRIGHT_ADMIN_EMAIL: ADMIN.email,
    CARTWRIGHT_ADMIN_PASSWORD: ADMIN.password,
    CARTWRIGHT__RATE_LIMIT__ENABLED: 'false',
    CARTWRIGHT__ORDERS__PENDING_PER_BUYER: '1000000',
    CARTWRIGHT__ORDERS__PENDING_PER_ADDRESS: '1000000',
    CARTWRIGHT__PAYMENTS__DEFAULT_PROVIDER: 'manual'
  }
  app = await createTestApp(settings, undefined, [...standardModules, planted.module])
  watcher = new pg.Client({ connectionString: app.databaseUrl })
  await watcher.connect()
  token = await register('ada@example.com')
  writer = await register('wim@example.com')
})
afterAll(async () => {
  await watcher.end()
  await app.close()
})

const register = async (email: string): Promise<string> =>
  (await app.request('POST', '/api/auth/register', { body: { email, password: PASSWORD } })).json.access_token
const send = ({ operation, url, headers = {}, body }: Case, by = token) => {
  const [method = ''] = operation.split(' ')
  return app.request(method, url, { token: by, headers, ...(body !== undefined && { body }) })
}

/** Linux adds up a thread's CPU time when the thread leaves the processor, and otherwise every few milliseconds only. */
const leaveProcessor = () => setTimeout(1)

/** Costs of a write to an empty cart and of a request, by turns: a busy machine makes both dearer alike. */
async function measure(write: Case, each: Case, rounds: number): Promise<Pair> {
  const { rows } = await watcher.query<{ pid: number }>(
    'select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()'
  )
  const databaseMs = () => rows.reduce((sum, { pid }) => sum + cpuMsOf(pid), 0)
  const costOf = async (request: Case, by: string): Promise<Cost> => {
    await leaveProcessor()
    const databaseBefore = databaseMs()
    const before = process.threadCpuUsage()
    const { status } = await send(request, by)
    await leaveProcessor()
    const { user, system } = process.threadCpuUsage(before)
    return { status, main: (user + system) / 1_000, database: databaseMs() - databaseBefore }
  }
  const [units, costs]: [Cost[], Cost[]] = [[], []]
  for (let round = 0; round < rounds; round += 1) {
    await app.request('DELETE', '/api/cart', { token: writer })
    units.push(await costOf(write, writer))
    costs.push(await costOf(each, token))
  }
  return { unit: medianOf(units), cost: medianOf(costs) }
}

const medianOf = (costs: readonly Cost[]): Cost => ({
  status: costs.at(-1)?.status ?? Number.NaN,
  main: median(costs.map(({ main }) => main)),
  database: median(costs.map(({ database }) => database))
})

/** CPU time of a process so far, in milliseconds (proc(5)); 0 when it has ended. */
function cpuMsOf(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1_000_000
  } catch {
    return 0
  }
}

test.runIf(process.platform === 'linux')(
  'no request of a shopper costs more than two cart writes for each request that the rate limit counts',
  async () => {
    const { ids, cases } = await realCases(app, { token, admin: ADMIN })
    const write = cases.find(({ name }) => name === 'a cart') ?? expect.fail('no write')
    for (let round = 0; round < WRITES; round += 1) await send(write)
    const { unit } = await measure(write, write, WRITES)
    planted.burn(40 * unit.main)
    const operations = await shopperOperations()
    const tooMuch: string[] = []
    const lines: string[] = []
    for (const each of [...cases, ...worstCases(operations, ids)]) {
      const operation = operations.get(each.operation) ?? expect.fail(`${each.operation} is not there`)
      const counted = countedAs(operation, each.body?.length ?? 0)
      const isOver = (pair: Pair) => multipleOf(pair) > MULTIPLE_MAX * counted
      await send(each)
      let pair = await measure(write, each, 1)
      for (const rounds of ROUNDS_AGAIN) if (isOver(pair)) pair = await measure(write, each, rounds)
      if (isOver(pair)) tooMuch.push(each.operation)
      if (multipleOf(pair) < 1 && !isOver(pair)) continue
      const figures = [pair.cost.main / pair.unit.main, multipleOf(pair)].map(figure => figure.toFixed(1))
      lines.push(
        [`${each.operation}, ${each.name}`, pair.cost.status, counted.toFixed(0), ...figures].join(' | ')
      )
    }
    console.log(
      `A write to an empty cart: ${unit.main.toFixed(2)} ms of this thread, ${unit.database.toFixed(2)} of statements.\n` +
        `request | status | counts as | thread, in writes | at most, in writes\n${lines.join('\n')}`
    )
    expect([...new Set(tooMuch)]).toEqual(planted.operations)
  }
)

/** What a request costs in writes to an empty cart: of this thread, or with its statements, whichever is more. */
const multipleOf = ({ unit, cost }: Pair) =>
  Math.max(cost.main / unit.main, (cost.main + cost.database) / (unit.main + unit.database))

/** Requests that it counts as: by its declaration and its bytes, or by a limit of its own. */
function countedAs(operation: Operation, bytes: number): number {
  const own = TIER_PER_MINUTE / (operation['x-requests-per-minute'] ?? TIER_PER_MINUTE)
  return Math.max((operation['x-counts-as'] ?? 1) + Math.floor(bytes / BODY_BYTES_CHARGED_AS_REQUEST), own)
}

/** Operations for the public and for customers, by method and path. */
async function shopperOperations(): Promise<Map<string, Operation>> {
  const { json } = await app.request('GET', '/openapi.json')
  const paths = resolveReferences<Record<string, Record<string, Operation>>>(
    json.paths,
    json.components.schemas
  )
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const
    )
  )
  return new Map(
    all.filter(
      ([name, { security = [] }]) =>
        name.includes(' /api/') && !security.some(({ bearer }) => bearer.includes('admin'))
    )
  )
}

/** Each operation with the bodies that cost most to read, or without one. Ids in paths are of nothing. */
function worstCases(operations: ReadonlyMap<string, Operation>, ids: readonly string[]): Case[] {
  return [...operations].flatMap(([operation, { requestBody, 'x-body-bytes-max': bytesMax = 0 }]) => {
    // The others would have no token.
    if (operation === 'POST /api/auth/logout') return []
    const url = operation.replace(/^\w+ /, '').replaceAll(/\{\w+\}/g, ids[0] ?? '')
    const schema = requestBody?.content['application/json']?.schema
    if (schema === undefined) return [{ operation, url, name: 'nothing' }]
    // Its `data` is any object of 4 KiB.
    const bounded = operation === 'POST /api/notifications/send' ? undefined : schema
    return worstBodies(bounded, { bytesMax, ids }).map(([name, body]) => ({ operation, url, name, body }))
  })
}
