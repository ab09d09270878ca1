import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { eventually } from '../../../test/support/eventually.ts'
import { browse, moduleOf, parseRaw, useGateway } from '../../../test/support/gateway.ts'

const LARGE_BYTES = 30_000_000

/** Creates a gateway whose route `/api/x/slow` responds on command, and counts the requests that wait there. */
async function useSlowGateway() {
  const { promise: told, resolve: answer } = Promise.withResolvers<void>()
  const { promise: entered, resolve: enter } = Promise.withResolvers<void>()
  async function* slowly() {
    yield 'the first half, '
    enter()
    await told
    yield 'the second half'
  }
  const module = moduleOf('x', ['/api/x'], ({ public: open }) => {
    open.get('/x', browse, async () => ({ ok: true }))
    open.get('/x/slow', browse, async () => {
      enter()
      await told
      return { ok: true }
    })
    open.get('/x/stream', browse, async () => Readable.from(slowly(), { objectMode: false }))
    open.get('/x/large', browse, async () => Buffer.alloc(LARGE_BYTES, 'x'))
  })
  const gateway = await useGateway({ modules: [module] })
  return { gateway, port: await gateway.listen(), entered, answer }
}

function get(port: number, path: string) {
  const socket = connect(port, '127.0.0.1')
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
  return socket
}

test('while draining, each response has Connection: close, also one in progress, and its socket is closed', async () => {
  const { gateway, port, entered, answer } = await useSlowGateway()
  const before = parseRaw(
    await text(get(port, '/api/x').once('data', () => gateway.app.server.closeIdleConnections()))
  )
  expect([before.status, before.headers.connection]).toEqual([200, 'keep-alive'])

  const underWay = text(get(port, '/api/x/slow'))
  await entered
  gateway.drain()
  for (const path of ['/api/x', '/readyz', '/api/nothing']) {
    const { status, headers } = parseRaw(await text(get(port, path)))
    expect([path, status, headers.connection]).toEqual([path, status, 'close'])
  }
  answer()
  expect(parseRaw(await underWay)).toMatchObject({ status: 200, headers: { connection: 'close' } })
})

test('a response that began before the process drains is completed and its socket closed, so the close does not wait', async () => {
  const { gateway, port, entered, answer } = await useSlowGateway()
  const underWay = text(get(port, '/api/x/stream'))
  await entered
  gateway.drain()
  const closed = gateway.app.close()
  await eventually(() => expect(gateway.app.server.listening).toBe(false))
  answer()
  expect(parseRaw(await underWay).body).toContain('the second half')
  const startedAt = performance.now()
  await closed
  expect(performance.now() - startedAt).toBeLessThan(3_000)
})

test('closing the server does not cut off a response that a slow client is still reading', async () => {
  const { gateway, port } = await useSlowGateway()
  const socket = get(port, '/api/x/large')
  await once(socket, 'readable')
  const closed = gateway.app.close()
  const { body } = parseRaw(await text(socket))
  expect(body.length).toBe(LARGE_BYTES)
  await closed
})
