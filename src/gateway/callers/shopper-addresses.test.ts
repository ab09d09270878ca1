import type { IncomingMessage } from 'node:http'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { moduleOf, openGateway, type TestGateway, useGateway } from '../../../test/support/gateway.ts'
import { loadConfig } from '../../config.ts'
import { callerNetwork } from './rate-limits.ts'
import { createShopperAddressReader } from './shopper-addresses.ts'

const OLD = 'the-first-secret-of-the-shop-front'
const NEW = 'the-present-secret-of-the-shop-front'
const TRUSTED = { CARTWRIGHT__SERVER__TRUSTED_CLIENTS: JSON.stringify([OLD, NEW]) }
const browse = { class: 'browse' } as const

let reached = 0
const routes = moduleOf('x', ['/api/x'], tiers => {
  tiers.public.get('/x', { config: browse }, async request => {
    reached += 1
    return { limits: callerNetwork(request), admission: request.slot?.network }
  })
  tiers.public.get(
    '/x/few',
    { config: { ...browse, limit: { name: 'few', perMinute: 2 } } },
    async () => ({})
  )
  tiers.public.post('/x', { config: { ...browse, noReplay: 'a test' } }, async () => {
    reached += 1
    return { reached }
  })
})

let gateway: TestGateway
let origin: string

beforeAll(async () => {
  gateway = await openGateway({
    modules: [routes],
    settings: { ...TRUSTED, CARTWRIGHT__RATE_LIMIT__ENABLED: 'true' }
  })
  origin = `http://127.0.0.1:${await gateway.listen()}`
})
afterAll(() => gateway.close())
beforeEach(() => {
  reached = 0
})

const ask = async (path: string, headers: Record<string, string> = {}, to = origin, method = 'GET') => {
  const answer = await fetch(to + path, { method, headers })
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any field of the response
  return { status: answer.status, headers: answer.headers, json: (await answer.json()) as any }
}
const asks = (address: string, secret = NEW) => ({
  'x-cartwright-client': secret,
  'x-shopper-address': address
})

test('rate limits count each shopper of a trusted shop front, and the shop front itself', async () => {
  const few = async (headers?: Record<string, string>) => (await ask('/api/x/few', headers)).status
  for (const own of [asks('192.0.2.1'), asks('192.0.2.2', OLD), asks('2001:db8:0:1::a'), undefined])
    expect([await few(own), await few(own), await few(own)]).toEqual([200, 200, 429])
  // Another address of the same network, in another notation.
  expect(await few(asks('2001:0DB8:0:1::B'))).toBe(429)
  expect(await few(asks('2001:db8:0:2::a'))).toBe(200)
})

test('admission counts requests by the shopper address that a trusted shop front sends', async () => {
  const { json } = await ask('/api/x', asks('192.0.2.9'))
  expect(json).toEqual({ limits: '192.0.2.9', admission: '192.0.2.9' })
})

test.each([
  ['another secret', { 'x-cartwright-client': `${NEW}!`, 'x-shopper-address': '192.0.2.1' }],
  ['an empty secret', { 'x-cartwright-client': '', 'x-shopper-address': '192.0.2.1' }],
  [
    'the beginning of a secret',
    { 'x-cartwright-client': NEW.slice(0, -1), 'x-shopper-address': '192.0.2.1' }
  ],
  ['two secrets', { 'x-cartwright-client': `${OLD}, ${NEW}`, 'x-shopper-address': '192.0.2.1' }],
  ['an address and no secret', { 'x-shopper-address': '192.0.2.1' }],
  ['another secret and no address', { 'x-cartwright-client': 'guess' }]
])(
  'a request with %s is rejected, so its rate limit cannot count for another address',
  async (_what, headers) => {
    const { status, json } = await ask('/api/x', headers)
    expect([status, json.code]).toEqual([403, 'CLIENT_NOT_TRUSTED'])
    expect(reached).toBe(0)
  }
)

test.each([
  '',
  'unknown',
  '192.0.2',
  '256.0.2.1',
  '192.0.2.1:443',
  '192.0.2.1, 192.0.2.2',
  '[2001:db8::1]',
  '2001:db8::1/64'
])('%j is not a valid shopper address', async address => {
  const { status, json } = await ask('/api/x', asks(address))
  expect([status, json.code, json.errors[0].path]).toEqual([
    400,
    'MALFORMED_SHOPPER_ADDRESS',
    'headers/x-shopper-address'
  ])
  expect(reached).toBe(0)
})

test('a trusted shop front must send the shopper address', async () => {
  const { status, json } = await ask('/api/x', { 'x-cartwright-client': NEW })
  expect([status, json.code]).toEqual([400, 'MALFORMED_SHOPPER_ADDRESS'])
})

test("without configured trusted clients, a request with a shop front's secret is rejected", async () => {
  const strict = await useGateway({ modules: [routes] })
  const { status, json } = await ask('/api/x', asks('192.0.2.1'), `http://127.0.0.1:${await strict.listen()}`)
  expect([status, json.code]).toEqual([403, 'CLIENT_NOT_TRUSTED'])
})

test('two shoppers of one shop front never share an idempotency key', async () => {
  const key = { 'idempotency-key': crypto.randomUUID(), 'content-type': 'application/json' }
  const post = (address: string) => ask('/api/x', { ...key, ...asks(address) }, origin, 'POST')
  expect((await post('192.0.2.11')).json).toEqual({ reached: 1 })
  expect((await post('192.0.2.12')).json).toEqual({ reached: 2 })
  const again = await post('192.0.2.11')
  expect([again.json, again.headers.get('idempotency-replayed')]).toEqual([{ reached: 1 }, 'true'])
})

test('the shopper address of a shop front takes precedence over X-Forwarded-For', async () => {
  const proxied = await useGateway({
    modules: [routes],
    settings: { ...TRUSTED, CARTWRIGHT__SERVER__TRUST_PROXY: 'true' }
  })
  const to = `http://127.0.0.1:${await proxied.listen()}`
  const forwarded = { 'x-forwarded-for': '198.51.100.7' }
  expect((await ask('/api/x', { ...forwarded, ...asks('192.0.2.1') }, to)).json.limits).toBe('192.0.2.1')
  expect((await ask('/api/x', forwarded, to)).json.limits).toBe('198.51.100.7')
})

test('no log line and no response contains the secret of a shop front', async () => {
  const answers = [
    await ask('/api/x', asks('192.0.2.1')),
    await ask('/api/x', asks('nonsense')),
    await ask('/api/x', asks('192.0.2.1', `${NEW}-`))
  ]
  expect(JSON.stringify([answers, gateway.log])).not.toContain(NEW)
})

test('the request listener knows the network of a shopper behind a trusted shop front', () => {
  const networkOf = (headers: Record<string, string>, trust_proxy = false) => {
    const request = { headers } as unknown as IncomingMessage
    const { server } = loadConfig([], TRUSTED)
    return createShopperAddressReader({ ...server, trust_proxy }).networkOf(request)
  }
  const forwarded = { 'x-forwarded-for': '198.51.100.6, 2001:db8::1' }
  expect(networkOf({})).toBeUndefined()
  expect(networkOf(asks('2001:db8:1:2::3'))).toBe('2001:db8:1:2::/64')
  expect(networkOf(asks('192.0.2.1', 'a guess'))).toBeUndefined()
  expect(networkOf(asks('nonsense'))).toBeUndefined()
  expect(networkOf(forwarded)).toBeUndefined()
  expect(networkOf(forwarded, true)).toBe('2001:db8:0:0::/64')
})
