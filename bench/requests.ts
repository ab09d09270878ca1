/**
 * What one request may cost: `npm run bench:requests`. Every operation that is open to the public or to any customer is
 * sent the worst bodies that its limits allow, and its cost is shown as multiples of a write to an empty cart. See README.md.
 */
import { readFileSync } from 'node:fs'
import { modules } from '../src/app.ts'
import { BYTES_A_REQUEST } from '../src/gateway/callers/rate-limits.ts'
import { openTestShop, type TestResponse } from '../src/testing.ts'
import { type BodySchema, escapedJson, largestOf } from '../test/support/largest-body.ts'
import { followed } from '../test/support/references.ts'
import { fillShop, openBench } from './shop.ts'
import { median } from './siege.ts'

const REPEATS = 9
/** The first ones compile what the others run. */
const WARM_UPS = 5
const WRITES = 300
const VARIANTS = 1_000
/** What a request may cost, in writes to an empty cart, for each request that it counts as. */
const MULTIPLE_MAX = 2
const PASSWORD = 'correct horse battery staple'

type Operation = {
  security?: { bearer: string[] }[]
  requestBody?: { content: Record<string, { schema: BodySchema } | undefined> }
  'x-body-bytes-max'?: number
}
type Route = { method: string; path: string; bytesMax: number; schema: BodySchema | undefined }

const bench = await openBench()
const shop = await openTestShop({
  modules,
  databaseUrl: bench.databaseUrl,
  settings: { CARTWRIGHT__LOG__LEVEL: 'silent', CARTWRIGHT__PAYMENTS__DEFAULT_PROVIDER: 'manual' }
})
let isTooMuch = false
try {
  const { json: registered } = await shop.request('POST', '/api/auth/register', {
    body: { email: 'bench@example.com', password: PASSWORD }
  })
  const token = registered.access_token as string
  await fillShop(bench.client, { lines: 1, variants: VARIANTS, carts: 10 }, [])
  const { rows } = await bench.client.query<{ id: string }>('select id from catalog.variants order by id')
  const ids = rows.map(({ id }) => id)
  const ask = (method: string, url: string, body?: string) =>
    shop.request(method, url, { token, ...(body !== undefined && { body }) })

  const line = JSON.stringify({ variant_id: ids[0], quantity: 1 })
  const unit = await measure(
    () => ask('POST', '/api/cart', line),
    () => ask('DELETE', '/api/cart'),
    WRITES
  )
  print(
    `a write to an empty cart: ${unit.main.toFixed(2)} ms of the main thread, ${unit.all.toFixed(2)} ms with PostgreSQL\n`
  )
  print('| operation | body | status | bytes | counts as | main thread | with PostgreSQL | |')
  print('|---|---|---:|---:|---:|---:|---:|---|')
  const document = (await shop.request('GET', '/openapi.json')).json
  for (const route of routesOf(document)) {
    const url = route.path.replaceAll(/\{\w+\}/g, ids[0] ?? '')
    for (const [name, body] of bodiesFor(route, ids)) {
      const cost = await measure(() => ask(route.method, url, body))
      const units = 1 + Math.floor(Buffer.byteLength(body ?? '') / BYTES_A_REQUEST)
      const multiples = [cost.main / unit.main, cost.all / unit.all]
      const isOver = Math.max(...multiples) / units > MULTIPLE_MAX
      isTooMuch ||= isOver
      if (Math.max(...multiples) < 1 && !process.argv.includes('all')) continue
      print(
        `| ${route.method} ${route.path} | ${name} | ${cost.status} | ${body?.length ?? 0} | ${units} | ${multiples.map(each => each.toFixed(1)).join(' | ')} | ${isOver ? 'TOO MUCH' : ''} |`
      )
    }
  }
} finally {
  await shop.close()
  await bench.close()
}
process.exitCode = isTooMuch ? 1 : 0

/** Operations for the public and for customers. */
function routesOf(document: { paths: unknown; components: { schemas: Record<string, unknown> } }): Route[] {
  const paths = followed<Record<string, Record<string, Operation>>>(
    document.paths as never,
    document.components.schemas as never
  )
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, { security = [] }]) => !security.some(({ bearer }) => bearer.includes('admin')))
      .filter(() => !/\/(?:me\/delete|logout|sessions.*)$/.test(path))
      .map(([method, operation]) => ({
        method: method.toUpperCase(),
        path,
        bytesMax: operation['x-body-bytes-max'] ?? 0,
        schema: operation.requestBody?.content['application/json']?.schema
      }))
  )
}

/** The shapes that cost most to read, each as long as the route takes, and its own schema at its maxima. */
function bodiesFor({ schema, bytesMax }: Route, ids: readonly string[]): [string, string | undefined][] {
  if (schema === undefined) return [['none', undefined]]
  const many = (piece: (index: number) => string, open: string, close: string) => {
    let text = open
    for (let index = 0; text.length + 60 < bytesMax; index += 1) text += (index > 0 ? ',' : '') + piece(index)
    return text + close
  }
  const room = bytesMax - 20
  const largest = largestOf(schema, { character: '😀', idOf: index => ids[index % ids.length] ?? '' })
  const ascii = largestOf(schema, { character: 'a', idOf: index => ids[index % ids.length] ?? '' })
  const fitting = (text: string) => (text.length <= bytesMax ? text : undefined)
  return (
    [
      ['many keys', many(index => `"k${index}":1`, '{', '}')],
      ['nested keys', many(index => `"k${index}":{"a":{"b":1}}`, '{', '}')],
      ['empty objects', many(() => '{}', '{"items":[', ']}')],
      ['deep arrays', '['.repeat(room / 2) + ']'.repeat(room / 2)],
      ['lines of text', many(index => `"line ${index} of a text"`, '{"items":[', ']}')],
      ['escapes', `{"a":"${'\\u00e9'.repeat(room / 6)}"}`],
      ['huge numbers', many(() => '1'.repeat(300), '{"items":[', ']}').slice(0, bytesMax)],
      ['a long string', `{"a":"${'x'.repeat(room)}"}`],
      [
        'many items',
        many(index => `{"variant_id":"${ids[index % ids.length]}","quantity":1}`, '{"items":[', ']}')
      ],
      ['its maxima', fitting(JSON.stringify(ascii))],
      ['its maxima, escaped', fitting(escapedJson(largest))]
    ] as [string, string | undefined][]
  ).filter(([, body]) => body !== undefined)
}

/** What all processes of PostgreSQL have used so far, in milliseconds. */
function databaseMs(): number {
  const nanoseconds = bench.databasePids().map(pid => {
    try {
      return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0])
    } catch {
      return 0 // it ended in the meantime
    }
  })
  return nanoseconds.reduce((sum, each) => sum + each, 0) / 1_000_000
}

/** Milliseconds of CPU: medians of the main thread, and with all of PostgreSQL. */
async function measure(
  send: () => Promise<TestResponse>,
  prepare: () => Promise<unknown> = async () => {},
  repeats = REPEATS
) {
  const main: number[] = []
  const all: number[] = []
  let status = 0
  for (let round = 0; round < repeats + WARM_UPS; round += 1) {
    await prepare()
    const databaseBefore = databaseMs()
    const before = process.threadCpuUsage()
    status = (await send()).status
    const { user, system } = process.threadCpuUsage(before)
    if (round < WARM_UPS) continue
    main.push((user + system) / 1_000)
    all.push((user + system) / 1_000 + databaseMs() - databaseBefore)
  }
  return { status, main: median(main), all: median(all) }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
