import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { browse, moduleOf, parseRaw, sendRaw, useGateway } from '../../../test/support/gateway.ts'
import { shareShops } from '../../../test/support/shared-shops.ts'

shareShops()

/** Creates a gateway with few slots, where `/api/x/wait` holds its slot until released. */
async function useCrowdedGateway(slots: number) {
  let letGo = () => {}
  let waiting = 0
  const gone = new Promise<void>(resolve => {
    letGo = resolve
  })
  const routes = moduleOf('x', ['/api/x'], ({ public: open, secured }) => {
    open.get('/x', browse, async () => ({ ok: true }))
    open.get('/x/wait', browse, async () => {
      waiting += 1
      await gone
      return { ok: true }
    })
    open.post('/x', browse, async () => ({ ok: true }))
    open.get('/x/bug', browse, async () => {
      throw new Error('a bug')
    })
    open.get('/x/stream', browse, (_request, reply) => reply.send(Readable.from(['a', 'b'])))
    open.get('/x/broken', browse, (_request, reply) =>
      reply.send(
        new Readable({
          read() {
            this.destroy(new Error('broken'))
          }
        })
      )
    )
    secured.get('/x/own', browse, async () => ({ ok: true }))
  })
  const off = moduleOf('off', ['/api/off'], undefined, false)
  const gateway = await useGateway({
    modules: [routes, off],
    settings: {
      CARTWRIGHT__SERVER__CONCURRENT_REQUESTS_MAX: String(slots),
      CARTWRIGHT__SERVER__BODY_SECONDS: '1'
    }
  })
  const status = async (path: string) => (await gateway.request('GET', path)).status
  return { gateway, letGo: () => letGo(), waiting: () => waiting, status }
}

test('above the concurrency limit, requests under /api wait and are refused, and all other requests are served', async () => {
  const { gateway, letGo, waiting, status } = await useCrowdedGateway(2)
  const first = [status('/api/x/wait'), status('/api/x/wait')]
  await expect.poll(waiting).toBe(2)

  const refused = await gateway.request('GET', '/api/x')
  expect(refused.status).toBe(503)
  expect(refused.headers['retry-after']).toBe('1')
  expect(refused.headers).toHaveProperty('x-request-id')
  expect(refused.json).toMatchObject({ status: 503, code: 'OVERLOADED' })
  expect((await gateway.request('POST', '/api/x', { body: {} })).status).toBe(503)
  // A request without a token is rejected without a slot.
  expect(await status('/api/x/own')).toBe(401)

  for (const path of ['/healthz', '/readyz', '/metrics', '/metricsz']) expect(await status(path)).toBe(200)
  expect((await gateway.request('GET', '/api/off')).json).toHaveProperty('error')
  expect(await status('/api/none')).toBe(404)

  const late = status('/api/x')
  letGo()
  expect(await Promise.all([...first, late])).toEqual([200, 200, 200])
  expect((await gateway.request('GET', '/metrics')).text).toContain(
    'cartwright_requests_refused_total{class="browse",reason="wait"} 2'
  )
})

test('every outcome of a request releases its request slot', async () => {
  const { gateway, status } = await useCrowdedGateway(1)
  const port = await gateway.listen()
  for (let round = 0; round < 3; round += 1) {
    await status('/api/x')
    await status('/api/x/bug')
    await status('/api/x/own')
    await status('/api/x/none')
    await status('/api/off')
    await status('/api/x/%ff')
    await gateway.request('POST', '/api/x', { body: '{' })
    await gateway.request('HEAD', '/api/x')
    const origin = `http://127.0.0.1:${port}`
    expect(await (await fetch(`${origin}/api/x/stream`)).text()).toBe('ab')
    await fetch(`${origin}/api/x/broken`)
      .then(answer => answer.text())
      .catch(() => {})
    await expect.poll(() => status('/api/x'), { interval: 5 }).toBe(200)
  }
})

test('the request of a disconnected client holds its request slot until its handler ends', async () => {
  const { gateway, letGo, waiting, status } = await useCrowdedGateway(2)
  const port = await gateway.listen()
  const socket = connect(port, '127.0.0.1')
  socket.write('GET /api/x/wait HTTP/1.1\r\nHost: x\r\n\r\n')
  await expect.poll(waiting).toBe(1)
  socket.destroy()
  const filler = status('/api/x/wait')
  await expect.poll(waiting).toBe(2)
  expect(await status('/api/x')).toBe(503)
  letGo()
  expect(await filler).toBe(200)
  const all = await Promise.all([1, 2, 3].map(() => status('/api/x')))
  expect(all).toEqual([200, 200, 200])
})

test.each([
  ['stops', 'Content-Length: 9\r\n\r\n{'],
  ['trickles in', 'Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n']
])('a request whose body %s holds no request slot, and gets 408 in time', async (how, rest) => {
  const { gateway } = await useCrowdedGateway(1)
  const port = await gateway.listen()
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.on('error', () => {})
  socket.write(`POST /api/x HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${rest}`)
  const trickle = setInterval(() => how === 'trickles in' && socket.write('1\r\n \r\n'), 100)
  const statuses = new Set<number>()
  const ended = once(socket, 'close')
  while (!socket.closed) statuses.add((await fetch(`http://127.0.0.1:${port}/api/x`)).status)
  await ended
  clearInterval(trickle)
  expect([...statuses]).toEqual([200])
  const answer = parseRaw(Buffer.concat(chunks).toString())
  expect(answer.status).toBe(408)
  expect(JSON.parse(answer.body)).toMatchObject({ status: 408, code: 'REQUEST_TIMEOUT' })
  expect(gateway.log.filter(line => line.level !== 30)).toEqual([])
})

test('the body timeout applies to no request that is complete, refused or streamed', async () => {
  const { gateway } = await useCrowdedGateway(1)
  const port = await gateway.listen()
  const head = 'POST /api/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n'
  const tooLarge = sendRaw(port, `${head}Content-Length: 99999999\r\n\r\n{`)
  expect(parseRaw(await tooLarge).status).toBe(413)
  expect(parseRaw(await sendRaw(port, `${head}Content-Length: 2\r\n\r\n{}`)).status).toBe(200)
})
