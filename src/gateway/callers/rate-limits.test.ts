import { expect, test } from 'vitest'
import { moduleOf, sendRaw, useGateway } from '../../../test/support/gateway.ts'
import { shareShops } from '../../../test/support/shared-shops.ts'
import { Type } from '../../kernel/schema.ts'
import { input, line } from '../../kernel/wire.ts'
import { BODY_BYTES_CHARGED_AS_REQUEST, networkOfAddress } from './rate-limits.ts'

shareShops()

test.each([
  ['192.0.2.1:5678', '192.0.2.1'],
  ['[2001:db8:1:2::9]:443', '2001:db8:1:2::/64'],
  ['[2001:db8:1:2::9]', '2001:db8:1:2::/64'],
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '::ffff:192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::', 'fe80:0:0:0::/64']
])('for the rate limit, %s is counted as %s', (address, network) => {
  expect(networkOfAddress(address)).toBe(network)
})

const config = { class: 'account', noReplay: 'it changes nothing' } as const
const notes = moduleOf('x', ['/api/x'], ({ public: open, secured }) => {
  const body = input({ text: line(20_000) })
  open.post('/x', { config, schema: { body } }, async () => ({}))
  secured.post('/x/own', { config, schema: { body } }, async () => ({}))
  open.post('/x/few', { config, schema: { body: input({ n: Type.Integer() }) } }, async () => ({}))
  open.get('/x/costly', { config: { class: 'checkout', countsAs: 4 } }, async () => ({}))
  open.post('/x/bytes', { config: { ...config, body: 'bytes' } }, async () => ({}))
  open.post(
    '/x/file',
    { config: { class: 'bulk', body: { stream: 'text/csv', bytesMax: 1_000_000 } } },
    async () => ({})
  )
})
const useNotes = (perMinute: number) =>
  useGateway({
    modules: [notes],
    settings: {
      CARTWRIGHT__RATE_LIMIT__ENABLED: 'true',
      CARTWRIGHT__RATE_LIMIT__PUBLIC_PER_MINUTE: String(perMinute),
      CARTWRIGHT__RATE_LIMIT__SECURED_PER_MINUTE: String(perMinute)
    }
  })
/** Creates a body that costs this many additional requests. */
const bodyOf = (more: number) =>
  JSON.stringify({ text: 'x'.repeat(more * BODY_BYTES_CHARGED_AS_REQUEST + 1) })
const CSV = { 'content-type': 'text/csv' }

test.each([
  ['/api/x', undefined],
  ['/api/x/own', 'customer-1']
])('a body sent to %s costs one additional request of the rate limit for each 4 KiB', async (path, token) => {
  const gateway = await useNotes(10)
  const send = (more: number) =>
    gateway.request('POST', path, { body: bodyOf(more), ...(token && { token }) })
  expect([(await send(3)).status, (await send(4)).status]).toEqual([200, 200])
  const refused = await send(1)
  expect([refused.status, refused.json.code, refused.headers['retry-after']]).toEqual([
    429,
    'RATE_LIMITED',
    '6'
  ])
  expect((await send(0)).status).toBe(200)
})

test('a request costs the countsAs of its route plus the bytes of its body in the rate limit', async () => {
  const gateway = await useNotes(10)
  const read = async () => (await gateway.request('GET', '/api/x/costly')).status
  expect([await read(), await read(), await read()]).toEqual([200, 200, 429])
  expect((await gateway.request('POST', '/api/x', { body: bodyOf(1) })).status).toBe(200)
  expect((await gateway.request('POST', '/api/x', { body: bodyOf(0) })).status).toBe(429)
})

test("the body of a provider's callback counts towards the rate limit, that of a streamed file does not", async () => {
  const gateway = await useNotes(5)
  const body = 'x'.repeat(3 * BODY_BYTES_CHARGED_AS_REQUEST)
  const send = (path: string) => gateway.request('POST', path, { body, headers: CSV })
  expect([(await send('/api/x/file')).status, (await send('/api/x/bytes')).status]).toEqual([200, 200])
  expect((await send('/api/x/bytes')).status).toBe(429)
})

test('a body without an announced length is charged to the rate limit once it has been read', async () => {
  const gateway = await useNotes(4)
  const port = await gateway.listen()
  const head = 'POST /api/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n'
  const send = async (more: number) => {
    const body = bodyOf(more)
    const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
    const answer = await sendRaw(port, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk}`)
    return answer.slice(9, 12)
  }
  expect([await send(1), await send(3), await send(0)]).toEqual(['200', '429', '200'])
})

test('a body that costs more than the rate limit is accepted if the whole budget is left', async () => {
  const gateway = await useNotes(3)
  const send = async (more: number) =>
    (await gateway.request('POST', '/api/x', { body: bodyOf(more) })).status
  expect([await send(4), await send(0)]).toEqual([200, 429])
})

test('a body that is too long to be read costs as much of the rate limit as the longest allowed one', async () => {
  const gateway = await useNotes(3)
  const send = async (body: string) => (await gateway.request('POST', '/api/x/few', { body })).status
  expect([await send(bodyOf(4)), await send('{"n":1}'), await send('{"n":1}')]).toEqual([413, 200, 429])
})
