import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import Type from 'typebox'
import { expect, test } from 'vitest'
import { until } from '../../../test/faults/until.ts'
import { moduleOf, parseRaw, sendRaw, useGateway, useSharedGateway } from '../../../test/support/gateway.ts'
import { shareShops } from '../../../test/support/shared-shops.ts'
import type { Tiers } from './tiers.ts'

shareShops()

const csv = (bytesMax: number) =>
  ({ config: { class: 'bulk', body: { stream: 'text/csv', bytesMax } } }) as const
const bytes = { config: { class: 'checkout', body: 'bytes' } } as const
const json = {
  config: { class: 'account' },
  schema: { body: Type.Object({ n: Type.Integer() }, { additionalProperties: false }) }
} as const

function routes(tiers: Tiers): void {
  tiers.public.post('/x/file', csv(10), async request => ({ read: await text(request.body) }))
  tiers.public.post('/x/callback/:provider', bytes, async request => ({ hex: request.body.toString('hex') }))
  tiers.public.post('/x', json, async request => ({ n: request.body.n + 1 }))
}
const modules = [
  moduleOf('x', ['/api/x'], routes),
  // The same media type on the same tier, with another kind of body.
  moduleOf('y', ['/api/y'], tiers =>
    tiers.public.post('/y/file', csv(1_000), async request => ({
      length: (await text(request.body)).length
    }))
  )
]
const useBodies = () => useSharedGateway({ modules })

test("the type of a route's handler depends on the kind of its body", () => {
  const check = (tiers: Tiers) => {
    // @ts-expect-error: bytes are not text
    tiers.public.post('/x/a', bytes, async request => request.body.trim())
    // @ts-expect-error: a stream has no length
    tiers.public.post('/x/b', csv(1), async request => request.body.length)
    // @ts-expect-error: the schema knows no member m
    tiers.public.post('/x/c', json, async request => request.body.m)
  }
  expect(check).toBeTypeOf('function')
})

test('two modules can read the same media type on one tier as different kinds of body', async () => {
  const gateway = await useBodies()
  const headers = { 'content-type': 'Text/CSV; charset=utf-8' }
  const send = (path: string, body: string) => gateway.request('POST', path, { headers, body })
  expect((await send('/api/x/file', 'a,b')).json).toEqual({ read: 'a,b' })
  expect((await send('/api/y/file', 'a,b')).json).toEqual({ length: 3 })
})

test('a missing body of a streamed route is an empty stream', async () => {
  const gateway = await useBodies()
  const headers = { 'content-type': 'text/csv' }
  expect((await gateway.request('POST', '/api/x/file', { headers })).json).toEqual({ read: '' })
})

test.each(['application/json', 'text/plain', 'text/csvx', 'multipart/form-data', ''])(
  'a streamed body of an undeclared media type gets 415 before it is read: %j',
  async type => {
    const gateway = await useBodies()
    const headers = { 'content-type': type }
    const answer = await gateway.request('POST', '/api/x/file', { headers, body: '{"n":1}' })
    expect(answer.status).toBe(415)
  }
)

test('a route without a streamed body accepts no uploaded file', async () => {
  const gateway = await useBodies()
  const headers = { 'content-type': 'text/csv' }
  expect((await gateway.request('POST', '/api/x', { headers, body: 'a' })).status).toBe(415)
  expect((await gateway.request('POST', '/api/x', { body: { n: 1 } })).json).toEqual({ n: 2 })
})

test('a streamed body ends at the limit of its route, whether or not its length was announced', async () => {
  const gateway = await useBodies()
  const port = await gateway.listen()
  const head = 'POST /api/x/file HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: text/csv\r\n'
  const announced = await sendRaw(port, `${head}Content-Length: 11\r\n\r\n`)
  expect(parseRaw(announced).status).toBe(413)
  const chunked = await sendRaw(
    port,
    `${head}Transfer-Encoding: chunked\r\n\r\nb\r\n${'a'.repeat(11)}\r\n0\r\n\r\n`
  )
  expect(parseRaw(chunked).status).toBe(413)
  const fitting = await sendRaw(
    port,
    `${head}Transfer-Encoding: chunked\r\n\r\na\r\n${'a'.repeat(10)}\r\n0\r\n\r\n`
  )
  expect(JSON.parse(parseRaw(fitting).body)).toEqual({ read: 'a'.repeat(10) })
})

test('a streamed body that fails while its handler is busy causes no uncaught error', async () => {
  const reached = Promise.withResolvers<Readable>()
  const readSome = async ({ body }: { body: Readable }) => {
    await once(body, 'readable')
    body.read()
    reached.resolve(body)
    await until('the stream is destroyed', () => body.destroyed)
    return {}
  }
  const gateway = await useGateway({
    modules: [moduleOf('x', ['/api/x'], tiers => tiers.public.post('/x/file', csv(1_000), readSome))]
  })
  const socket = connect(await gateway.listen(), '127.0.0.1')
  const head = 'POST /api/x/file HTTP/1.1\r\nHost: x\r\nContent-Type: text/csv\r\nContent-Length: 100'
  socket.write(`${head}\r\n\r\nabc`)
  const body = await reached.promise
  socket.destroy()
  await until('the stream is destroyed', () => body.destroyed)
  // The test runner would report an uncaught error.
  expect(body.errored).toMatchObject({ code: 'ECONNRESET' })
})

test.each(['application/json', 'application/x-www-form-urlencoded', 'text/csv', 'x/y; z=1'])(
  'a callback route gets the exact bytes that were sent, for any content type: %s',
  async type => {
    const gateway = await useBodies()
    const body = Buffer.from([0x7b, 0x20, 0xff, 0x00, 0x0a, 0x22])
    const answer = await gateway.request('POST', '/api/x/callback/a', {
      headers: { 'content-type': type },
      body
    })
    expect(answer.json).toEqual({ hex: body.toString('hex') })
  }
)

test('a callback without a body has no bytes, and one of more than 256 KiB gets 413', async () => {
  const gateway = await useBodies()
  const send = (body?: Buffer) => gateway.request('POST', '/api/x/callback/a', body ? { body } : {})
  expect((await send()).json).toEqual({ hex: '' })
  expect((await send(Buffer.alloc(262_144))).status).toBe(200)
  expect((await send(Buffer.alloc(262_145))).status).toBe(413)
})

test('the fingerprint of an idempotency key covers the bytes of the body', async () => {
  const gateway = await useBodies()
  const headers = { 'idempotency-key': randomUUID() }
  const send = (body: Buffer) => gateway.request('POST', '/api/x/callback/a', { headers, body })
  expect((await send(Buffer.from([1]))).status).toBe(200)
  expect((await send(Buffer.from([1]))).headers['idempotency-replayed']).toBe('true')
  expect((await send(Buffer.from([2]))).status).toBe(422)
})
