import { expect, test } from 'vitest'
import { moduleOf, openGateway, useGateway, useSharedGateway } from '../../../test/support/gateway.ts'
import { shareShops } from '../../../test/support/shared-shops.ts'

shareShops()

const COMMON = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer'
}
const OWN_ONLY = {
  'cache-control': 'private, no-store',
  vary: expect.stringMatching(/^Authorization, X-Guest-Cart-Token\b/i)
}
const browse = { class: 'browse' } as const

const mounted = moduleOf('x', ['/api/x'], ({ public: open, secured, admin }) => {
  open.get('/x/open', { config: browse }, async () => ({}))
  open.get('/x/shared', { config: { ...browse, cache: 'public' } }, async () => ({}))
  open.get('/x/shared/absent', { config: { ...browse, cache: 'public' } }, async (_request, reply) => {
    throw Object.assign(new Error('a bug'), { reply })
  })
  secured.get('/x/own', { config: browse }, async () => ({}))
  admin.post('/x/all', { config: browse }, async () => ({}))
})

const routes = { ...mounted, credentialHeaders: ['x-guest-cart-token'], varyHeaders: ['x-terms'] }

test.each([
  ['a public route without cache', 'GET', '/api/x/open', undefined, 200],
  ['a secured route', 'GET', '/api/x/own', 'customer-1', 200],
  ['a secured route without a token', 'GET', '/api/x/own', undefined, 401],
  ['an admin route', 'POST', '/api/x/all', 'admin-1', 200],
  ['an admin route for a customer', 'POST', '/api/x/all', 'customer-1', 403],
  ['an error of a cacheable public route', 'GET', '/api/x/shared/absent', undefined, 500]
])(
  'the response headers of %s forbid every cache to store it',
  async (_what, method, path, token, status) => {
    const gateway = await useSharedGateway({ modules: [routes] })
    const answer = await gateway.request(method, path, token === undefined ? {} : { token })
    expect(answer.status).toBe(status)
    expect(answer.headers).toMatchObject(COMMON)
    expect(answer.headers['cache-control']).toBe('private, no-store')
    if (status !== 500) expect(answer.headers).toMatchObject(OWN_ONLY)
  }
)

test('public responses may be stored, and are revalidated each time', async () => {
  const gateway = await useSharedGateway({ modules: [routes] })
  const { headers } = await gateway.request('GET', '/api/x/shared')
  expect(headers).toMatchObject({ ...COMMON, 'cache-control': 'public, max-age=0, stale-if-error=300' })
  expect(headers.vary).toBe('x-terms, Accept-Encoding')
})

test('a header that several modules declare for Vary is named once', async () => {
  const other = { ...moduleOf('y', ['/api/y']), credentialHeaders: ['x-guest-cart-token'] }
  const gateway = await useGateway({ modules: [routes, other] })
  const { headers } = await gateway.request('GET', '/api/x/open')
  expect(headers.vary).toBe('Authorization, x-guest-cart-token')
})

test('responses of diagnostics, unknown routes and disabled modules are not stored by caches', async () => {
  const off = moduleOf('off', ['/api/off'], undefined, false)
  const gateway = await useGateway({ modules: [routes, off] })
  for (const path of [
    '/healthz',
    '/readyz',
    '/metrics',
    '/metricsz',
    '/nowhere',
    '/api/nowhere',
    '/api/off/1'
  ]) {
    const { headers } = await gateway.request('GET', path)
    expect(headers, path).toMatchObject(COMMON)
    expect(headers['cache-control'], path).toContain('no-store')
  }
})

test('a route whose responses depend on the caller cannot be cacheable: the gateway does not start', async () => {
  const leaky = moduleOf('x', ['/api/x'], ({ secured }) => {
    secured.get('/x/own', { config: { ...browse, cache: 'public' } }, async () => ({}))
  })
  await expect(openGateway({ modules: [leaky] })).rejects.toThrow('depends on the caller')
})

test('a shop with TLS sends Strict-Transport-Security', async () => {
  const secure = await useGateway({
    settings: { CARTWRIGHT__SERVER__PUBLIC_URL: 'https://shop.example.com' }
  })
  const plain = await useGateway()
  const hsts = async (gateway: typeof plain) =>
    (await gateway.request('GET', '/healthz')).headers['strict-transport-security']
  expect([await hsts(secure), await hsts(plain)]).toEqual(['max-age=31536000', undefined])
})
