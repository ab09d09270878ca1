import { once } from 'node:events'
import { Agent, type IncomingMessage, request as send } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { browse, moduleOf, openGateway, parseRaw, type TestGateway } from '../../../test/support/gateway.ts'

let gateway: TestGateway
let port: number
beforeAll(async () => {
  const routes = moduleOf('x', ['/api/x'], ({ public: open, secured }) => {
    open.post('/x', browse, async () => ({ ok: true }))
    open.get('/x', browse, async () => ({ ok: true }))
    secured.post('/x/own', browse, async () => ({ ok: true }))
  })
  gateway = await openGateway({ modules: [routes] })
  port = await gateway.listen()
})
afterAll(() => gateway.close())

const REFUSALS = [
  ['401', 'POST', '/api/x/own', 'application/json'],
  ['404', 'POST', '/api/nowhere', 'application/json'],
  ['405', 'PUT', '/api/x', 'application/json'],
  ['415', 'POST', '/api/x', 'text/plain']
] as const

test.each(REFUSALS)(
  'a chunked request that is refused with %s before its body is read announces the close',
  async (...refusal) => {
    const [status, method, path, type] = refusal
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const ask = async (end: boolean): Promise<IncomingMessage> => {
      const request = send({ port, agent, method, path, headers: { 'content-type': type } })
      request.on('error', () => {})
      request.write('{"a":')
      if (end) request.end('1}')
      const [answer] = (await once(request, 'response')) as [IncomingMessage]
      await text(answer)
      return answer
    }
    const early = await ask(false)
    expect([String(early.statusCode), early.headers.connection]).toEqual([status, 'close'])
    // The agent opens a new connection, so that no request uses one that is closing.
    for (let count = 0; count < 5; count += 1) expect(String((await ask(true)).statusCode)).toBe(status)
    agent.destroy()
  }
)

test('a short body with an announced length is read and dropped after a refusal, and the connection stays open', async () => {
  const socket = connect(port, '127.0.0.1')
  let seen = ''
  socket.on('data', chunk => {
    seen += chunk
  })
  socket.write(
    'POST /api/x/own HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{"a"'
  )
  await expect.poll(() => seen).toMatch(/^HTTP\/1\.1 401[\s\S]*connection: keep-alive/i)
  socket.write(':1}GET /api/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  await once(socket, 'close')
  expect(seen).toMatch(/HTTP\/1\.1 200/)
})

test('a long body of a refused request is not read, and its client still gets the response', async () => {
  const accepted = once(gateway.app.server, 'connection') as Promise<[Socket]>
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  const bytes = 50_000_000
  let seen = ''
  socket.on('data', chunk => {
    seen += chunk
  })
  socket.on('error', () => {})
  socket.write(
    `POST /api/x/own HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`
  )
  socket.write(Buffer.alloc(bytes, 0x20))
  await new Promise(resolve => socket.once('close', resolve))
  expect(parseRaw(seen)).toMatchObject({ status: 401, headers: { connection: 'close' } })
  // No more than the socket buffers hold.
  expect((await accepted)[0].bytesRead).toBeLessThan(bytes / 2)
})
