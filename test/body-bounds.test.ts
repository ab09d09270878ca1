import { afterAll, beforeAll, expect, test } from 'vitest'
import { computeBodyBoundsOfSchema } from '../src/gateway/routing/body-bounds.ts'
import { parseJson } from '../src/gateway/routing/json-parser.ts'
import { createTestApp, type TestApp } from './support/app.ts'
import { type BodySchema, escapedJson, largestOf } from './support/largest-body.ts'
import { resolveReferences } from './support/references.ts'

type Operation = {
  requestBody?: { content: Record<string, { schema: BodySchema } | undefined> }
  'x-body-bytes-max'?: number
}
type Sized = { name: string; schema: BodySchema; bytesMax: number }
const MEBIBYTE = 1_048_576
const ID = '00000000-0000-4000-8000-000000000000'

let app: TestApp
let operations: Sized[]
beforeAll(async () => {
  app = await createTestApp()
  const { json } = await app.request('GET', '/openapi.json')
  const paths = resolveReferences<Record<string, Record<string, Operation>>>(
    json.paths,
    json.components.schemas
  )
  operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const schema = operation.requestBody?.content['application/json']?.schema
      const bytesMax = operation['x-body-bytes-max'] ?? 0
      return schema === undefined ? [] : [{ name: `${method} ${path}`, schema, bytesMax }]
    })
  )
})
afterAll(() => app.close())

test('the largest valid body of every operation is within its size limit, even with each character escaped', () => {
  expect(operations.length).toBeGreaterThan(100)
  for (const { name, schema, bytesMax } of operations) {
    // Its `data` is any object, within `x-bytes-max`.
    if (name === 'post /api/notifications/send') continue
    const value = largestOf(schema, { character: '😀', idOf: () => ID })
    const { valuesMax } = computeBodyBoundsOfSchema(schema)
    // Some schemas allow more than a mebibyte.
    const text = bytesMax === MEBIBYTE ? JSON.stringify(value) : escapedJson(value)
    if (bytesMax < MEBIBYTE) expect(Buffer.byteLength(text), name).toBeLessThanOrEqual(bytesMax)
    expect(() => parseJson(Buffer.from(text), valuesMax), name).not.toThrow()
  }
})

test('routes of shoppers accept small bodies only, 128 KiB at most', () => {
  const limits = Object.fromEntries(operations.map(({ name, bytesMax }) => [name, bytesMax / 1_024]))
  expect(limits).toMatchObject({
    'post /api/auth/login': 8,
    'post /api/guest-cart': 32,
    'put /api/guest-cart/items/{variantId}': 4,
    'post /api/cart': 32,
    'post /api/cart/merge': 64,
    'post /api/shipping/rates': 64,
    'post /api/checkouts/guest': 128,
    'post /api/orders/guest': 128,
    'post /api/orders': 128
  })
  const ofStaff = /^\w+ \/api\/(?:admin|catalog|inventory)\//
  const longest = Object.entries(limits).filter(([name, kib]) => kib > 128 && !ofStaff.test(name))
  expect(longest).toEqual([])
})

test.each([
  ['POST', '/api/auth/login', 8_192],
  ['POST', '/api/guest-cart', 32_768],
  ['POST', '/api/orders/guest', 131_072]
])(
  'a body above the limit of %s %s gets 413, and the error states the limit',
  async (method, path, bytesMax) => {
    const answer = await app.request(method, path, { body: `"${'a'.repeat(bytesMax - 1)}"` })
    expect([answer.status, answer.json.code, answer.json.bytes_max]).toEqual([
      413,
      'BODY_TOO_LARGE',
      bytesMax
    ])
    const within = await app.request(method, path, { body: `"${'a'.repeat(bytesMax - 2)}"` })
    expect(within.status).toBe(400)
  }
)

test('a body of 90,000 members is counted no further than its route allows', async () => {
  const members = Object.fromEntries(Array.from({ length: 9_000 }, (_, index) => [`k${index}`, 1]))
  const answer = await app.request('POST', '/api/orders/guest', { body: members })
  expect([answer.status, answer.json.code]).toEqual([400, 'MALFORMED_JSON'])
  expect(answer.json.reason).toMatch(/^it has more than \d+ values$/)
})

const SHAPES: readonly [string, (index: number) => string, string, string][] = [
  ['many keys', index => `"k${index}":1`, '{', '}'],
  ['nested keys', index => `"k${index}":{"a":{"b":1}}`, '{', '}'],
  ['empty objects', () => '{}', '{"items":[', ']}'],
  ['numbers', () => '1', '{"items":[', ']}']
]

test.each(SHAPES)(
  'for a body of %s, no operation parses more values than its schema allows',
  (_name, piece, ...ends) => {
    const [open = '', close = ''] = ends
    // Operations with the same limits get the same body, which is parsed once.
    const limits = new Map(
      operations.map(({ name, schema, bytesMax }) => {
        const { valuesMax } = computeBodyBoundsOfSchema(schema)
        return [`${bytesMax} ${valuesMax}`, { name, bytesMax, valuesMax }]
      })
    )
    for (const { name, bytesMax, valuesMax } of limits.values()) {
      const pieces: string[] = []
      for (let bytes = open.length + 1; bytes < bytesMax - 100; bytes += (pieces.at(-1)?.length ?? 0) + 1)
        pieces.push(piece(pieces.length))
      const body = Buffer.from(open + pieces.join(',') + close)
      if (pieces.length > valuesMax)
        expect(
          reasonOf(() => parseJson(body, valuesMax)),
          name
        ).toBe(`it has more than ${valuesMax} values`)
    }
  }
)

function reasonOf(work: () => unknown): unknown {
  try {
    work()
  } catch (error) {
    return (error as { details?: { reason?: unknown } }).details?.reason
  }
  return undefined
}
