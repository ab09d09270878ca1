import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  browse,
  moduleOf,
  openGateway,
  parseRaw,
  sendRaw,
  type TestGateway
} from '../../../test/support/gateway.ts'

let gateway: TestGateway
let port: number
beforeAll(async () => {
  const routes = moduleOf('x', ['/api/x'], ({ public: open }) => {
    open.get('/x', browse, async () => ({ ok: true }))
    open.post('/x', browse, async () => ({ ok: true }))
  })
  gateway = await openGateway({ modules: [routes] })
  port = await gateway.listen()
})
afterAll(() => gateway.close())

const lines = (...all: string[]) => `${all.join('\r\n')}\r\n\r\n`
const close = 'Connection: close'

async function expectProblem(bytes: string | Buffer, status: number, code: string) {
  const answer = parseRaw(await sendRaw(port, bytes))
  expect(answer.status).toBe(status)
  expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8')
  expect(Number(answer.headers['content-length'])).toBe(Buffer.byteLength(answer.body))
  expect(JSON.parse(answer.body)).toMatchObject({ type: 'about:blank', status, code })
  return answer
}

test.each([
  ['no HTTP', 'hello\r\n\r\n'],
  ['an unknown method', lines('FLY /api/x HTTP/1.1', 'Host: x')],
  ['an unknown version', lines('GET /api/x HTTP/9.9', 'Host: x')],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['a TLS greeting', Buffer.from('16030100f4010000f00303', 'hex')],
  ['a header without a colon', lines('GET /api/x HTTP/1.1', 'Host: x', 'Rubbish')],
  ['a space in a header name', lines('GET /api/x HTTP/1.1', 'Host : x')],
  ['NUL in a header', lines('GET /api/x HTTP/1.1', 'Host: x', 'X-A: a\0b')],
  ['two lengths', lines('POST /api/x HTTP/1.1', 'Host: x', 'Content-Length: 1', 'Content-Length: 2')],
  [
    'length and chunks',
    lines('POST /api/x HTTP/1.1', 'Host: x', 'Content-Length: 1', 'Transfer-Encoding: chunked')
  ],
  ['a folded header', lines('GET /api/x HTTP/1.1', 'Host: x', 'X-A: a', ' b')],
  ['a raw space in the target', lines('GET /api/x y HTTP/1.1', 'Host: x')]
])('a malformed request, %s, gets 400 with a problem, and its connection is closed', async (_what, bytes) => {
  const answer = await expectProblem(bytes, 400, 'MALFORMED_REQUEST')
  expect(answer.headers.connection).toBe('close')
})

test('request headers that are too large get 431', async () => {
  await expectProblem(
    lines('GET /api/x HTTP/1.1', 'Host: x', `X-A: ${'a'.repeat(20_000)}`),
    431,
    'HEADERS_TOO_LARGE'
  )
})

test('a request without a Host header gets 400', async () => {
  await expectProblem(lines('GET /api/x HTTP/1.1', close), 400, 'MISSING_HOST')
  expect(parseRaw(await sendRaw(port, lines('GET /api/x HTTP/1.0'))).status).toBe(200)
})

test.each([
  ['two Hosts', ['Host: x', 'host: x'], 400],
  ['two Hosts, one of them empty', ['Host: x', 'HOST:'], 400],
  ['an unknown coding', ['Host: x', 'Transfer-Encoding: magic'], 400],
  ['a coding below chunked', ['Host: x', 'Transfer-Encoding: gzip, chunked'], 501],
  ['chunked twice in one line', ['Host: x', 'Transfer-Encoding: chunked, chunked'], 400],
  ['chunked in two lines', ['Host: x', 'Transfer-Encoding: chunked', 'transfer-encoding: chunked'], 400],
  ['chunked, and something behind it', ['Host: x', 'Transfer-Encoding: chunked, identity'], 400],
  ['identity', ['Host: x', 'Transfer-Encoding: identity'], 400]
])('a request with %s is rejected, and its connection is closed', async (_what, headers, status) => {
  for (const path of ['/api/x', '/healthz', '/api/none']) {
    const next = lines('GET /api/x HTTP/1.1', 'Host: x')
    const bytes = `${lines(`POST ${path} HTTP/1.1`, ...headers)}0\r\n\r\n${next}`
    const text = await sendRaw(port, bytes)
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual([`HTTP/1.1 ${status}`])
    const answer = parseRaw(text)
    expect(JSON.parse(answer.body)).toMatchObject({ status, code: 'MALFORMED_REQUEST' })
    expect(answer.headers.connection).toBe('close')
  }
})

test('a Transfer-Encoding header in HTTP/1.0 is rejected', async () => {
  await expectProblem(lines('POST /api/x HTTP/1.0', 'Transfer-Encoding: chunked'), 400, 'MALFORMED_REQUEST')
})

test('a single chunked transfer coding is accepted in any notation', async () => {
  const head = ['POST /api/x HTTP/1.1', 'Host: x', 'Content-Type: application/json', close]
  const answer = await sendRaw(port, `${lines(...head, 'Transfer-Encoding: Chunked')}2\r\n{}\r\n0\r\n\r\n`)
  expect(parseRaw(answer).status).toBe(200)
})

test('a request body in a few small chunks is read; one in many tiny chunks closes the connection', async () => {
  const crumbs = (path: string, count: number) => {
    const head = [`POST ${path} HTTP/1.1`, 'Host: x', 'Content-Type: application/json', close]
    return lines(...head, 'Transfer-Encoding: chunked') + '1\r\n \r\n'.repeat(count)
  }
  const end = '2\r\n{}\r\n0\r\n\r\n'
  expect(parseRaw(await sendRaw(port, crumbs('/api/x', 900) + end)).status).toBe(200)
  expect(await sendRaw(port, crumbs('/api/x', 20_000) + end).catch(() => '')).toBe('')
})

test('a response before the last chunk of its request closes the connection', async () => {
  const unfinished = lines('POST /api/none HTTP/1.1', 'Host: x', 'Transfer-Encoding: chunked')
  expect(parseRaw(await sendRaw(port, unfinished)).status).toBe(404)
})

test('a request with an unknown Expect header is served as if it had none', async () => {
  const answer = await sendRaw(port, lines('GET /api/x HTTP/1.1', 'Host: x', 'Expect: wonders', close))
  expect(parseRaw(answer)).toMatchObject({ status: 200, body: '{"ok":true}' })
})

test('Expect: 100-continue gets 100 Continue before the body is sent', async () => {
  const head = [
    'POST /api/x HTTP/1.1',
    'Host: x',
    'Content-Type: application/json',
    'Content-Length: 2',
    close
  ]
  const answer = await sendRaw(port, `${lines(...head, 'Expect: 100-continue')}{}`)
  expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/)
})

test('a CONNECT request is handled like any other method', async () => {
  const answer = await expectProblem(lines('CONNECT /api/x HTTP/1.1', 'Host: x'), 405, 'METHOD_NOT_ALLOWED')
  expect(answer.headers.allow).toBe('GET, HEAD, POST')
  await expectProblem(lines('CONNECT example.org:443 HTTP/1.1', 'Host: x'), 404, 'ROUTE_NOT_FOUND')
})

test.each([
  '/api/../healthz',
  '/api/x/../x',
  '/api/x/.',
  '/./api/x',
  '/api/x\\..',
  '*',
  'http://elsewhere/api/none'
])('the request target %s is not normalized, and matches no route', async target => {
  await expectProblem(lines(`GET ${target} HTTP/1.1`, 'Host: x', close), 404, 'ROUTE_NOT_FOUND')
})

test('a request target in absolute form matches the same route', async () => {
  const answer = await sendRaw(port, lines('GET http://elsewhere/api/x HTTP/1.1', 'Host: x', close))
  expect(parseRaw(answer)).toMatchObject({ status: 200, body: '{"ok":true}' })
})

test('a request cannot inject response headers', async () => {
  const request = lines('GET /api/%0d%0aX-Evil:%201 HTTP/1.1', 'Host: x', 'X-Request-Id: a\rb', close)
  const answer = await sendRaw(port, request)
  expect(parseRaw(answer).headers).not.toHaveProperty('x-evil')
})

test('a request body that does not arrive in time gets 408', async () => {
  // The timeouts of this server, as short as its check of them (every 5 seconds) allows.
  const { server } = gateway.app
  const limits = { request: server.requestTimeout, headers: server.headersTimeout }
  expect(limits.headers).toBeLessThan(limits.request)
  server.requestTimeout = 200
  server.headersTimeout = 100
  try {
    const head = lines(
      'POST /api/x HTTP/1.1',
      'Host: x',
      'Content-Type: application/json',
      'Content-Length: 9'
    )
    const [body, header] = await Promise.all([
      sendRaw(port, `${head}{`),
      sendRaw(port, 'GET /api/x HTTP/1.1\r\nHo')
    ])
    for (const answer of [body, header]) {
      const { status, body: text } = parseRaw(answer)
      expect([status, JSON.parse(text).code]).toEqual([408, 'REQUEST_TIMEOUT'])
    }
  } finally {
    server.requestTimeout = limits.request
    server.headersTimeout = limits.headers
  }
})

test('a client that disconnects in the middle of its request body causes no error', async () => {
  gateway.log.length = 0
  const socket = connect(port, '127.0.0.1')
  socket.write(
    lines('POST /api/x HTTP/1.1', 'Host: x', 'Content-Type: application/json', 'Content-Length: 9')
  )
  await once(socket, 'connect')
  socket.end('{')
  await once(socket.resume(), 'close')
  await expect.poll(() => gateway.log.length).toBeGreaterThan(0)
  expect(gateway.log.filter(line => line.level !== 30)).toEqual([])
  expect(gateway.log.at(-1)).toMatchObject({ route: '/api/x', status: 499 })
})

test('a request of a connection that was reset before it was accepted is dropped without an error', async () => {
  const before = gateway.log.length
  const asAfterReset = (socket: Socket) =>
    Object.defineProperty(socket, 'remoteAddress', { value: undefined })
  gateway.app.server.once('connection', asAfterReset)
  expect(await sendRaw(port, lines('GET /api/x HTTP/1.1', 'Host: x'))).toBe('')
  expect(gateway.log.slice(before).filter(line => line.level !== 30)).toEqual([])
})
