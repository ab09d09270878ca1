import { expect, test } from 'vitest'
import {
  browse,
  moduleOf,
  parseRaw,
  sendRaw,
  useGateway,
  useSharedGateway
} from '../../../test/support/gateway.ts'
import { shareShops } from '../../../test/support/shared-shops.ts'
import { identityOf } from '../callers/identity.ts'
import type { Tiers } from './tiers.ts'

shareShops()

const ok = async () => ({ ok: true })
const threeTiers = moduleOf('x', ['/api/x'], tiers => {
  tiers.public.get('/x/open', browse, ok)
  tiers.secured.get('/x/own', browse, async request => identityOf(request))
  tiers.admin.get('/x/admin', browse, async request => identityOf(request))
  tiers.public.post('/x/login', { config: { class: 'account', limit: { name: 'login', perMinute: 2 } } }, ok)
  tiers.public.post(
    '/x/register',
    { config: { class: 'account', limit: { name: 'register', perMinute: 1 } } },
    ok
  )
  tiers.public.get('/x/mistake', browse, async request => identityOf(request))
})
const limited = (limits: Record<string, string>) =>
  useGateway({
    modules: [threeTiers],
    settings: {
      CARTWRIGHT__RATE_LIMIT__ENABLED: 'true',
      ...Object.fromEntries(
        Object.entries(limits).map(([name, value]) => [`CARTWRIGHT__RATE_LIMIT__${name}`, value])
      )
    }
  })

test('public routes are open to every caller, with or without a valid token', async () => {
  const gateway = await useSharedGateway({ modules: [threeTiers] })
  for (const token of [undefined, 'customer-1', 'bad']) {
    expect((await gateway.request('GET', '/api/x/open', token ? { token } : {})).status).toBe(200)
  }
})

test.each([
  ['no header', {}],
  ['an empty header', { authorization: '' }],
  ['the scheme alone', { authorization: 'Bearer' }],
  ['the scheme and a space', { authorization: 'Bearer ' }],
  ['another scheme', { authorization: 'Basic customer-1' }],
  ['the token alone', { authorization: 'customer-1' }],
  ['two tokens', { authorization: 'Bearer customer-1 customer-2' }],
  ['a list', { authorization: 'Bearer customer-1, Bearer customer-2' }],
  ['a bad token', { authorization: 'Bearer bad' }],
  ['an undefined one', { authorization: 'Bearer undefined' }]
])('secured and admin routes return 401 to %s', async (_what, headers) => {
  const gateway = await useSharedGateway({ modules: [threeTiers] })
  for (const path of ['/api/x/own', '/api/x/admin']) {
    const answer = await gateway.request('GET', path, { headers })
    expect(answer.status).toBe(401)
    expect(answer.headers['www-authenticate']).toBe('Bearer')
    expect(answer.json).toMatchObject({ status: 401, code: 'AUTHENTICATION_REQUIRED' })
  }
})

test('a request with two Authorization headers is rejected, even when one has a valid token', async () => {
  const gateway = await useSharedGateway({ modules: [threeTiers] })
  const port = await gateway.listen()
  for (const tokens of [
    ['customer-1', 'customer-2'],
    ['customer-1', 'bad'],
    ['bad', 'customer-1']
  ]) {
    const headers = tokens.map(token => `Authorization: Bearer ${token}\r\n`).join('')
    const text = `GET /api/x/own HTTP/1.1\r\nHost: x\r\n${headers}Connection: close\r\n\r\n`
    const { status, body } = parseRaw(await sendRaw(port, text))
    expect([status, JSON.parse(body).code]).toEqual([400, 'AUTHORIZATION_REPEATED'])
  }
})

test('secured routes accept any valid token; admin routes require the role, and their 403 names it', async () => {
  const gateway = await useSharedGateway({ modules: [threeTiers] })
  const get = (path: string, token: string) => gateway.request('GET', path, { token })
  expect((await get('/api/x/own', 'customer-1')).json).toMatchObject({ userId: '1', role: 'customer' })
  expect((await get('/api/x/own', 'admin-2')).json).toMatchObject({ userId: '2' })
  expect((await get('/api/x/admin', 'admin-2')).json).toMatchObject({ userId: '2', role: 'admin' })
  const refused = await get('/api/x/admin', 'customer-1')
  expect(refused.status).toBe(403)
  expect(refused.json).toMatchObject({ code: 'ADMIN_REQUIRED' })
  const lower = await gateway.request('GET', '/api/x/own', {
    headers: { authorization: 'bearer  customer-1 ' }
  })
  expect(lower.status).toBe(200)
})

test('the caller is authenticated and authorized before the request is validated', async () => {
  const gateway = await useGateway({
    modules: [moduleOf('x', ['/api/x'], tiers => tiers.secured.post('/x', browse, ok))]
  })
  expect((await gateway.request('POST', '/api/x', { body: '{"a":' })).status).toBe(401)
  expect((await gateway.request('POST', '/api/x', { body: 'x'.repeat(2_000_000) })).status).toBe(401)
})

test("a route of the public tier that reads the caller's identity fails with 500, because it is a bug", async () => {
  const gateway = await useSharedGateway({ modules: [threeTiers] })
  expect((await gateway.request('GET', '/api/x/mistake', { token: 'customer-1' })).status).toBe(500)
})

test('each tier has its rate limit, and a 429 names the limit and when to retry', async () => {
  const gateway = await limited({ PUBLIC_PER_MINUTE: '2', SECURED_PER_MINUTE: '3', ADMIN_PER_MINUTE: '4' })
  const count = async (path: string, token?: string) => {
    for (let sent = 0; sent < 50; sent += 1) {
      const answer = await gateway.request('GET', path, token ? { token } : {})
      if (answer.status !== 200) return { sent, answer }
    }
    throw new Error('never refused')
  }
  const cases = [
    [await count('/api/x/open'), 'public', 2],
    [await count('/api/x/own', 'customer-1'), 'secured', 3],
    [await count('/api/x/admin', 'admin-1'), 'admin', 4]
  ] as const
  for (const [{ sent, answer }, name, limit] of cases) {
    expect(sent).toBe(limit)
    expect(answer.status).toBe(429)
    expect(answer.json).toMatchObject({ status: 429, code: 'RATE_LIMITED' })
    const wait = Number(answer.headers['retry-after'])
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(60)
    expect(answer.headers['ratelimit-policy']).toBe(`"${name}";q=${limit};w=60`)
    expect(answer.headers.ratelimit).toBe(`"${name}";r=0;t=${wait}`)
  }
})

test('one customer does not use up the rate limit of another, nor one tier that of the next', async () => {
  const gateway = await limited({ SECURED_PER_MINUTE: '1', ADMIN_PER_MINUTE: '1' })
  const status = async (path: string, token: string) => (await gateway.request('GET', path, { token })).status
  expect(await status('/api/x/own', 'customer-1')).toBe(200)
  expect(await status('/api/x/own', 'customer-1')).toBe(429)
  expect(await status('/api/x/own', 'customer-2')).toBe(200)
  expect(await status('/api/x/own', 'admin-3')).toBe(200)
  expect(await status('/api/x/admin', 'admin-3')).toBe(200)
  expect(await status('/api/x/admin', 'admin-3')).toBe(429)
})

test('rate limits use the client address that a trusted proxy reports, not one that the client claims', async () => {
  const from = (addresses: string) => ({ headers: { 'x-forwarded-for': addresses } })
  const direct = await limited({ PUBLIC_PER_MINUTE: '1' })
  expect((await direct.request('GET', '/api/x/open', from('192.0.2.1'))).status).toBe(200)
  expect((await direct.request('GET', '/api/x/open', from('192.0.2.2'))).status).toBe(429)

  const behindProxy = await useGateway({
    modules: [threeTiers],
    settings: {
      CARTWRIGHT__RATE_LIMIT__ENABLED: 'true',
      CARTWRIGHT__RATE_LIMIT__PUBLIC_PER_MINUTE: '1',
      CARTWRIGHT__SERVER__TRUST_PROXY: 'true'
    }
  })
  const status = async (addresses: string) =>
    (await behindProxy.request('GET', '/api/x/open', from(addresses))).status
  expect(await status('192.0.2.1')).toBe(200)
  expect(await status('192.0.2.2')).toBe(200)
  expect(await status('192.0.2.3, 192.0.2.1')).toBe(429)
})

test('a route can declare a tighter rate limit of its own for each address', async () => {
  const gateway = await limited({})
  const status = async (path: string) => (await gateway.request('POST', path)).status
  expect([await status('/api/x/login'), await status('/api/x/login'), await status('/api/x/login')]).toEqual([
    200, 200, 429
  ])
  expect([await status('/api/x/register'), await status('/api/x/register')]).toEqual([200, 429])
  expect((await gateway.request('GET', '/api/x/open')).status).toBe(200)
})

test('routes of one module that name the same rate limit share it; another module has its own', async () => {
  const limit = { name: 'send', perMinute: 2 }
  const config = { class: 'account', limit } as const
  const gateway = await useGateway({
    modules: [
      moduleOf('x', ['/api/x'], tiers => {
        tiers.public.post('/x/a', { config }, ok)
        tiers.public.post('/x/b', { config }, ok)
        tiers.secured.post('/x/c', { config: { ...config, limit: { ...limit, name: 'own' } } }, ok)
      }),
      moduleOf('y', ['/api/y'], tiers => tiers.public.post('/y/a', { config }, ok))
    ],
    settings: { CARTWRIGHT__RATE_LIMIT__ENABLED: 'true' }
  })
  const status = async (path: string, token?: string) =>
    (await gateway.request('POST', path, token ? { token } : {})).status
  expect([await status('/api/x/a'), await status('/api/x/b'), await status('/api/x/a')]).toEqual([
    200, 200, 429
  ])
  expect([await status('/api/x/b'), await status('/api/y/a')]).toEqual([429, 200])
  // An authenticated caller is counted by user.
  for (let sent = 0; sent < 2; sent += 1) expect(await status('/api/x/c', 'customer-1')).toBe(200)
  expect([await status('/api/x/c', 'customer-1'), await status('/api/x/c', 'customer-2')]).toEqual([429, 200])
})

test('a rate limit that is declared with two sizes prevents the start', async () => {
  const limited = (perMinute: number) =>
    ({ config: { class: 'account', limit: { name: 'a', perMinute } } }) as const
  const mount = (tiers: Tiers) => {
    tiers.public.post('/x/a', limited(1), ok)
    tiers.public.post('/x/b', limited(2), ok)
  }
  await expect(useGateway({ modules: [moduleOf('x', ['/api/x'], mount)] })).rejects.toThrow(
    'the limit x.a is declared with two values'
  )
})

test('invalid tokens are rate-limited by address, and a valid token from that address is still accepted', async () => {
  const gateway = await limited({ PUBLIC_PER_MINUTE: '2' })
  const status = async (token: string) => (await gateway.request('GET', '/api/x/own', { token })).status
  expect([await status('bad1'), await status('bad2'), await status('bad3')]).toEqual([401, 401, 429])
  expect(await status('customer-1')).toBe(200)
})

test('when rate limits are disabled, no request is limited', async () => {
  const gateway = await useGateway({
    modules: [threeTiers],
    settings: {
      CARTWRIGHT__RATE_LIMIT__PUBLIC_PER_MINUTE: '1'
    }
  })
  for (let sent = 0; sent < 5; sent += 1) {
    expect((await gateway.request('POST', '/api/x/login')).status).toBe(200)
  }
})

test('requests to diagnostics endpoints are never rate-limited', async () => {
  const gateway = await limited({ PUBLIC_PER_MINUTE: '1' })
  await gateway.request('GET', '/api/x/open')
  expect((await gateway.request('GET', '/api/x/open')).status).toBe(429)
  for (const path of ['/healthz', '/readyz', '/metrics', '/metricsz']) {
    for (let sent = 0; sent < 5; sent += 1) expect((await gateway.request('GET', path)).status).toBe(200)
  }
})
