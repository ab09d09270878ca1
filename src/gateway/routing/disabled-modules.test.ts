import { METHODS } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  browse,
  moduleOf,
  openGateway,
  parseRaw,
  sendRaw,
  type TestGateway
} from '../../../test/support/gateway.ts'

const error = 'module shop is disabled; enable it in the configuration file under modules.shop.enabled: true'
let gateway: TestGateway
let port: number
let authenticated = 0

beforeAll(async () => {
  const ok = async () => ({ ok: true })
  gateway = await openGateway({
    modules: [
      moduleOf('shop', ['/api/shop', '/api/items/:id/reviews'], undefined, false),
      moduleOf('deep', ['/api/shop/deep'], tiers => tiers.public.get('/shop/deep/a', browse, ok)),
      {
        ...moduleOf('items', ['/api/items', '/api/tags'], tiers => {
          tiers.public.get('/items/:id', browse, ok)
          tiers.public.get('/items/:id/:part', browse, ok)
          tiers.secured.post('/items', browse, ok)
          tiers.public.get('/tags', browse, ok)
        }),
        parts: [{ name: 'tags', basePaths: ['/api/tags'], enabled: false }]
      }
    ],
    authenticate: async () => {
      authenticated += 1
      throw new Error('must not authenticate')
    },
    settings: { CARTWRIGHT__RATE_LIMIT__ENABLED: 'true', CARTWRIGHT__RATE_LIMIT__PUBLIC_PER_MINUTE: '5' }
  })
  port = await gateway.listen()
})
afterAll(() => gateway.close())

test.each(METHODS)(
  'requests to a disabled module get 503: %s on and below its base path, over a socket',
  async method => {
    for (const path of ['/api/shop', '/api/shop/', '/api/shop/a/b/c?d=e', '/api/items/7/reviews/rating']) {
      const request = `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`
      const answer = parseRaw(await sendRaw(port, request))
      expect(answer.status, path).toBe(503)
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
      expect(answer.body).toBe(method === 'HEAD' ? '' : JSON.stringify({ error }))
      expect(answer.headers['content-length']).toBe(String(JSON.stringify({ error }).length))
      expect(answer.headers['x-request-id']).toMatch(/./)
    }
  }
)

test.each([
  ['invalid JSON', { 'content-type': 'application/json' }, '{"a":'],
  ['a body of 5 MB', { 'content-type': 'application/json' }, `"${'a'.repeat(5_000_000)}"`],
  ['an unknown content type', { 'content-type': 'application/x-rubbish' }, 'x'],
  ['a content type that is none', { 'content-type': ';;;' }, 'x'],
  ['a bad token', { authorization: 'Bearer bad' }, undefined],
  ['a malformed idempotency key', { 'idempotency-key': 'ä ö' }, undefined],
  ['a preflight', { origin: 'https://a.example', 'access-control-request-method': 'POST' }, undefined]
])('a request to a disabled module with %s gets the same 503', async (_what, headers, body) => {
  for (const method of ['POST', 'DELETE', 'OPTIONS', 'GET']) {
    const answer = await gateway.request(method, '/api/shop/x', { headers, ...(body && { body }) })
    expect(answer.status).toBe(503)
    expect(answer.json).toEqual({ error })
  }
  expect(authenticated).toBe(0)
})

test('a request with a large body to a disabled module is refused before the body arrives', async () => {
  const head =
    'POST /api/shop HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 5000000\r\n'
  const answer = parseRaw(await sendRaw(port, `${head}Connection: close\r\n\r\n{"a"`))
  expect([answer.status, JSON.parse(answer.body)]).toEqual([503, { error }])
})

test.each([
  '/api/shop/%E0%A4%A',
  '/api/shop/%00',
  '/api/%73hop/x',
  '/api/shop?a=b#c',
  `/api/shop/${'a'.repeat(5_000)}`,
  '/api/items/7/reviews/%ff',
  '/api/shop/deeper',
  '/api/shop//deep/a'
])('%.60s is recognized as below the base path of a disabled module, and gets 503', async path => {
  const answer = await gateway.request('GET', path)
  expect([answer.status, answer.json]).toEqual([503, { error }])
})

test('a request without a Host header to a disabled module gets 503', async () => {
  const answer = parseRaw(await sendRaw(port, 'GET /api/shop HTTP/1.1\r\nConnection: close\r\n\r\n'))
  expect(answer.status).toBe(503)
})

test('routes that other modules mount below the base path of a disabled module get 503', async () => {
  for (const [method, path] of [
    ['GET', '/api/shop/deep/a'],
    ['POST', '/api/shop/deep/a'],
    ['GET', '/api/shop/deep']
  ] as const)
    expect((await gateway.request(method, path)).json).toEqual({ error })
})

test('a disabled part of a module gets 503, while the rest of the module is served', async () => {
  for (const method of ['GET', 'POST', 'OPTIONS']) {
    const answer = await gateway.request(method, '/api/tags/7?a=b')
    expect(answer.status).toBe(503)
    expect(answer.json.error).toBe(error.replaceAll('shop', 'tags'))
  }
  expect((await gateway.request('GET', '/api/items/7')).status).toBe(200)
})

test('the OpenAPI document contains no route of a disabled module', async () => {
  const { paths } = (await gateway.request('GET', '/openapi.json')).json
  const ofModules = Object.keys(paths).filter(path => path.startsWith('/api/'))
  expect(ofModules).toEqual(['/api/items/{id}', '/api/items/{id}/{part}', '/api/items'])
})

test("a disabled module's deeper base path takes precedence over a path parameter of an enabled module", async () => {
  expect((await gateway.request('GET', '/api/items/7/reviews')).status).toBe(503)
  expect((await gateway.request('GET', '/api/items/7/images')).status).toBe(200)
})

test.each(['/api/shopping', '/api/shop-2/x', '/api', '/shop', '/api/items//reviews', '/API/shop'])(
  'the path %s belongs to no disabled module',
  async path => {
    expect((await gateway.request('GET', path)).status).not.toBe(503)
  }
)

test('requests to a disabled module do not count towards the rate limits of the caller', async () => {
  const status = async (url: string) =>
    (await gateway.app.inject({ url, remoteAddress: '192.0.2.1' })).statusCode
  for (let count = 0; count < 20; count += 1) expect(await status('/api/shop')).toBe(503)
  expect(await status('/api/items/7')).toBe(200)
})
