import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  moduleOf,
  openGateway,
  parseRaw,
  sendRaw,
  type TestGateway,
  useGateway
} from '../../../test/support/gateway.ts'

const SHOP = 'https://shop.example.com'
const ORIGINS = { CARTWRIGHT__SERVER__CORS__ORIGINS: `[${SHOP}, "http://localhost:3000"]` }
const CORS = {
  'access-control-allow-origin': SHOP,
  'access-control-expose-headers': expect.stringMatching(
    /Content-Disposition.*ETag.*Idempotency-Replayed.*Link.*Location.*RateLimit.*Retry-After.*X-Request-Id/
  )
}
const browse = { class: 'browse' } as const

const routes = {
  ...moduleOf('x', ['/api/x'], tiers => {
    tiers.public.get('/x', { config: { ...browse, cache: 'public' } }, async () => ({}))
    tiers.public.post('/x', { config: { ...browse, noReplay: 'a test' } }, async () => ({}))
    tiers.public.get('/x/bug', { config: browse }, async () => {
      throw new Error('a bug')
    })
    const limit = { name: 'few', perMinute: 1 }
    tiers.public.get('/x/few', { config: { ...browse, limit } }, async () => ({}))
    tiers.secured.get('/x/own', { config: browse }, async () => ({}))
  }),
  credentialHeaders: ['x-one-token', 'x-other-token'],
  varyHeaders: ['x-terms']
}
const off = moduleOf('off', ['/api/off'], undefined, false)

let gateway: TestGateway
let port: number

beforeAll(async () => {
  const settings = {
    ...ORIGINS,
    CARTWRIGHT__RATE_LIMIT__ENABLED: 'true',
    CARTWRIGHT__SERVER__BODY_SECONDS: '1'
  }
  gateway = await openGateway({ modules: [routes, off], settings })
  port = await gateway.listen()
})
afterAll(() => gateway.close())

/** Sends one request with these lines over a new connection. */
async function ask(line: string, headers: Record<string, string> = {}, body = '', to = port) {
  const lines = Object.entries({ host: 'x', connection: 'close', ...headers }).map(
    ([name, value]) => `${name}: ${value}`
  )
  return parseRaw(await sendRaw(to, `${line} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`))
}
const preflight = (path: string, origin = SHOP, to = port) =>
  ask(`OPTIONS ${path}`, { origin, 'access-control-request-method': 'POST' }, '', to)
const corsOf = (headers: Record<string, string>) =>
  Object.keys(headers).filter(name => name.startsWith('access-control-'))

test('a CORS preflight of an allowed origin lists all methods and headers', async () => {
  for (const path of ['/api/x', '/api/x/own', '/api/nowhere', '/api/off/1']) {
    const { status, headers, body } = await preflight(path)
    expect([status, body], path).toEqual([204, ''])
    expect(headers, path).toMatchObject({
      ...CORS,
      vary: 'Origin',
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
      'access-control-max-age': '7200',
      'cache-control': 'no-store',
      'x-request-id': expect.stringMatching(/./)
    })
    const sendable = headers['access-control-allow-headers']?.toLowerCase().split(', ')
    expect(sendable).toEqual(
      expect.arrayContaining([
        'authorization',
        'content-type',
        'idempotency-key',
        'if-match',
        'if-none-match'
      ])
    )
    expect(sendable).toEqual(expect.arrayContaining(['x-one-token', 'x-other-token', 'x-terms']))
  }
  expect((await preflight('/api/x', 'http://localhost:3000')).headers['access-control-allow-origin']).toBe(
    'http://localhost:3000'
  )
})

test('CORS preflights are counted in metrics, and are neither rate-limited nor logged', async () => {
  for (let count = 0; count < 5; count += 1) expect((await preflight('/api/x/few')).status).toBe(204)
  const { body } = await ask('GET /metrics')
  expect(body).toMatch(
    /http_request_duration_seconds_count\{method="OPTIONS",route="preflight",status="204"\} \d/
  )
  expect(gateway.log.filter(line => line.method === 'OPTIONS' && line.status === 204)).toEqual([])
})

test.each([
  'https://shop.example.com.evil.example',
  'https://evil.example',
  'http://shop.example.com',
  'https://shop.example.com:8443',
  'https://SHOP.example.com',
  'https://shop.example.com/',
  `${SHOP}, https://evil.example`,
  'null',
  '*',
  ''
])('a page of the origin %j is refused by CORS', async origin => {
  const asked = await preflight('/api/x', origin)
  expect([asked.status, asked.headers.allow]).toEqual([405, 'GET, HEAD, POST'])
  const got = await ask('GET /api/x', { origin })
  expect(got.status).toBe(200)
  expect([...corsOf(asked.headers), ...corsOf(got.headers)]).toEqual([])
  expect(got.headers.vary).toContain('Origin')
})

test('responses have Vary: Origin for every caller', async () => {
  for (const headers of [{}, { origin: SHOP }]) {
    const { vary } = (await ask('GET /api/x', headers)).headers
    expect(vary).toBe('x-terms, Accept-Encoding, Origin')
  }
  const own = await ask('GET /api/x/own', { origin: SHOP })
  expect(own.headers.vary).toBe('Authorization, x-one-token, x-other-token, Origin')
})

test('a page of an allowed origin can read the error response to its request', async () => {
  const json = { 'content-type': 'application/json', 'content-length': '5' }
  await ask('GET /api/x/few')
  const refusals: [number, Awaited<ReturnType<typeof ask>>][] = [
    [200, await ask('GET /api/x', { origin: SHOP })],
    [400, await ask('POST /api/x', { origin: SHOP, ...json }, '{"a":')],
    [400, await ask('GET /api/x', { origin: SHOP, Host: 'y' })],
    [401, await ask('GET /api/x/own', { origin: SHOP })],
    [404, await ask('GET /api/x/nowhere', { origin: SHOP })],
    [405, await ask('DELETE /api/x', { origin: SHOP })],
    [408, await ask('POST /api/x', { origin: SHOP, ...json }, '{')],
    [415, await ask('POST /api/x', { origin: SHOP, ...json, 'content-type': 'text/xml' }, '<a/> ')],
    [429, await ask('GET /api/x/few', { origin: SHOP })],
    [500, await ask('GET /api/x/bug', { origin: SHOP })],
    [503, await ask('GET /api/off/1', { origin: SHOP })]
  ]
  for (const [status, { status: got, headers }] of refusals) {
    expect(got).toBe(status)
    expect(headers, String(status)).toMatchObject(CORS)
  }
})

test('a page of an allowed origin can read a refusal by the request listener', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { promise: allThere, resolve: eighth } = Promise.withResolvers<void>()
  let there = 0
  const slow = moduleOf('x', ['/api/x'], tiers => {
    tiers.public.get('/x', { config: browse }, async () => {
      there += 1
      if (there === 8) eighth()
      await released
      return {}
    })
  })
  const own = await useGateway({ modules: [slow], settings: ORIGINS })
  const answers = sendRaw(
    await own.listen(),
    `GET /api/x HTTP/1.1\r\nhost: x\r\norigin: ${SHOP}\r\n\r\n`.repeat(9)
  )
  await allThere
  release()
  const last = (await answers).split(/(?=HTTP\/1\.1 )/).at(-1) ?? ''
  expect(parseRaw(last)).toMatchObject({
    status: 503,
    headers: { ...CORS, vary: 'Origin', 'retry-after': '1' }
  })
})

test('no CORS headers are sent on diagnostics, nor without configured origins', async () => {
  for (const path of ['/healthz', '/readyz', '/metrics', '/metricsz', '/openapi.json', '/apis']) {
    const got = await ask(`GET ${path}`, { origin: SHOP })
    const asked = await preflight(path)
    expect([...corsOf(got.headers), ...corsOf(asked.headers)], path).toEqual([])
    expect(asked.status, path).not.toBe(204)
  }
  const closed = await useGateway({ modules: [routes] })
  const to = await closed.listen()
  const asked = await preflight('/api/x', SHOP, to)
  expect([asked.status, asked.headers.allow]).toEqual([405, 'GET, HEAD, POST'])
  const got = await ask('GET /api/x', { origin: SHOP }, '', to)
  expect([...corsOf(asked.headers), ...corsOf(got.headers)]).toEqual([])
  expect(got.headers.vary).toBe('x-terms, Accept-Encoding')
})

test('an OPTIONS request that is not a preflight is handled like other methods', async () => {
  const { status, headers } = await ask('OPTIONS /api/x', { origin: SHOP })
  expect([status, headers.allow]).toEqual([405, 'GET, HEAD, POST'])
  expect(headers).toMatchObject(CORS)
})
