import type { lookup as dnsLookup } from 'node:dns'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { createHttpClient, type OutgoingHttpRequest } from './client.ts'

afterEach(() => vi.useRealTimers())

async function useServer(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(
    () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  )
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A server whose response the test writes byte by byte. */
async function useSocket(onConnection: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createTcpServer(socket => {
    sockets.add(socket.on('error', () => {}))
    onConnection(socket)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A resolver that returns one set of addresses after another and records the names of its lookups. */
function resolver(...sets: string[][]) {
  const asked: string[] = []
  const lookup = ((name: string, _options: unknown, done: (error: null, found: object[]) => void) => {
    const set = sets[Math.min(asked.length, sets.length - 1)] ?? []
    asked.push(name)
    done(
      null,
      set.map(address => ({ address, family: address.includes(':') ? 6 : 4 }))
    )
  }) as unknown as typeof dnsLookup
  return { lookup, asked }
}

const client = createHttpClient({ privateHosts: [] })
const ask = (url: string, request: Partial<OutgoingHttpRequest> = {}) =>
  client.send({ url, isConfigured: true, ...request })

test('an outbound request arrives with its method, path, headers and body, and its response is returned', async () => {
  const seen: unknown[] = []
  const base = await useServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { host, 'content-length': length, 'x-hint': hint, 'accept-encoding': encoding } = request.headers
    seen.push({ method: request.method, url: request.url, host, length, hint, encoding, body })
    response.setHeader('x-many', ['a', 'b'])
    response.writeHead(418, { 'content-type': 'text/plain' }).end('tea')
  })
  const answer = await ask(`${base}/a/b?c=d#e`, {
    method: 'POST',
    body: '{"n":1}',
    headers: { 'x-hint': 'yes', host: 'elsewhere.example.com' }
  })
  expect(answer).toMatchObject({
    status: 418,
    headers: { 'content-type': 'text/plain', 'x-many': 'a, b' },
    body: Buffer.from('tea')
  })
  expect(seen).toEqual([
    {
      method: 'POST',
      url: '/a/b?c=d',
      host: new URL(base).host,
      length: '7',
      hint: 'yes',
      encoding: 'identity',
      body: '{"n":1}'
    }
  ])
})

test.each([301, 302, 307, 308])(
  'a redirect (%i) of an outbound request is returned and not followed',
  async status => {
    const paths: (string | undefined)[] = []
    const base = await useServer((request, response) => {
      paths.push(request.url)
      response.writeHead(status, { location: '/elsewhere' }).end()
    })
    expect(await ask(`${base}/here`)).toMatchObject({ status, headers: { location: '/elsewhere' } })
    expect(paths).toEqual(['/here'])
  }
)

test.each([
  'https://127.0.0.1/',
  'https://10.1.2.3/',
  'https://169.254.169.254/latest/meta-data',
  'https://0x7f.1/',
  'https://0177.0.0.1/',
  'https://2130706433/',
  'https://127.1/',
  'https://127.0.0.1./',
  'https://[::1]/',
  'https://[::ffff:10.0.0.1]/',
  'https://[::ffff:a00:1]/',
  'https://[64:ff9b::10.0.0.1]/',
  'https://[fd00::1]/',
  'https://１２７.０.０.１/'
])('an outbound request to %s is rejected before any DNS lookup', async url => {
  const { lookup, asked } = resolver(['127.0.0.1'])
  const judging = createHttpClient({ privateHosts: [], lookup })
  await expect(judging.send({ url })).rejects.toMatchObject({ name: 'OutboundRefused', reason: 'address' })
  expect(asked).toEqual([])
})

test.each([
  ['http://example.com/', 'scheme'],
  ['ftp://example.com/', 'scheme'],
  ['file:///etc/passwd', 'scheme'],
  ['https://user:password@example.com/', 'credentials'],
  ['https://user@example.com/', 'credentials'],
  ['example.com', 'url'],
  ['', 'url']
])('an outbound request to %s is rejected because of its %s', async (url, reason) => {
  const refusal = client.send({ url })
  await expect(refusal).rejects.toMatchObject({ name: 'OutboundRefused', reason })
  await expect(refusal).rejects.not.toThrow(/password@/)
})

test('an outbound host name with only private addresses is rejected after one lookup', async () => {
  const base = await useServer((_request, response) => response.end('secret'))
  const url = `https://shop.test:${new URL(base).port}/`
  for (const addresses of [['127.0.0.1'], ['::1', '10.0.0.1'], ['::ffff:127.0.0.1']]) {
    const { lookup, asked } = resolver(addresses, ['8.8.8.8'])
    const judging = createHttpClient({ privateHosts: [], lookup })
    await expect(judging.send({ url })).rejects.toMatchObject({ name: 'OutboundRefused', reason: 'address' })
    // One lookup: a second one could return other addresses.
    expect(asked).toEqual(['shop.test'])
  }
})

test('an outbound request connects to the address of its only DNS lookup', async () => {
  const base = await useServer((_request, response) => response.end('here'))
  const { lookup, asked } = resolver(['127.0.0.1'], ['203.0.113.1'])
  const configured = createHttpClient({ privateHosts: [], lookup })
  const url = `http://shop.test:${new URL(base).port}/`
  expect((await configured.send({ url, isConfigured: true })).body.toString()).toBe('here')
  expect(asked).toEqual(['shop.test'])
})

test('a configured private host can be called, only by that name and only over TLS', async () => {
  const hellos: number[] = []
  const base = await useSocket(socket =>
    socket.once('data', data => {
      hellos.push(Buffer.from(data)[0] ?? 0)
      socket.destroy()
    })
  )
  const { port } = new URL(base)
  const { lookup } = resolver(['127.0.0.1'])
  const trusting = createHttpClient({ privateHosts: ['erp.internal', '127.0.0.1', '::1'], lookup })
  for (const host of ['erp.internal', '127.0.0.1'])
    await expect(trusting.send({ url: `https://${host}:${port}/` })).rejects.toMatchObject({
      name: 'OutboundFailed'
    })
  // A TLS handshake, twice (RFC 8446, section 5.1).
  expect(hellos).toEqual([22, 22])
  await expect(trusting.send({ url: `http://erp.internal:${port}/` })).rejects.toMatchObject({
    reason: 'scheme'
  })
  await expect(trusting.send({ url: `https://other.internal:${port}/` })).rejects.toMatchObject({
    reason: 'address'
  })
})

test('an outbound request whose response exceeds its size limit is aborted', async () => {
  const chunk = Buffer.alloc(65_536)
  let poured = 0
  const base = await useServer((_request, response) => {
    const pour = () => {
      if (response.destroyed) return
      poured += chunk.length
      response.write(chunk)
    }
    response.on('drain', pour)
    pour()
  })
  await expect(ask(base)).rejects.toThrow('larger than 1048576 bytes')
  await expect(ask(base, { bytesMax: 100 })).rejects.toThrow('larger than 100 bytes')
  expect(poured).toBeLessThan(32_000_000)
})

test('an outbound request whose response header never ends is aborted', async () => {
  const base = await useSocket(socket => socket.write(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(20_000)}`))
  await expect(ask(base)).rejects.toMatchObject({
    name: 'OutboundFailed',
    cause: { code: 'HPE_HEADER_OVERFLOW' }
  })
})

test.each<[string, string]>([
  ['nothing', ''],
  ['half a header', 'HTTP/1.1 200 OK\r\nx-'],
  ['half a body', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc']
])(
  'an outbound request to a server that sends %s and then nothing times out after ten seconds',
  async (_what, text) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const arrived = Promise.withResolvers<void>()
    const base = await useSocket(socket => {
      socket.write(text)
      socket.once('data', () => arrived.resolve())
    })
    const failure = expect(ask(base)).rejects.toThrow('sent no complete response within 10000 ms')
    await arrived.promise
    vi.advanceTimersByTime(9_999)
    expect(vi.getTimerCount()).toBe(1)
    vi.advanceTimersByTime(1)
    await failure
    expect(vi.getTimerCount()).toBe(0)
  }
)

test.each<[string, string]>([
  ['no response', ''],
  ['part of a response', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'],
  ['something else', 'SMTP ready\r\n'],
  ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: any\r\n\r\n']
])('an outbound request whose connection ends after %s fails', async (_what, text) => {
  const base = await useSocket(socket => socket.once('data', () => socket.end(text)))
  await expect(ask(base)).rejects.toMatchObject({ name: 'OutboundFailed' })
})

test('an outbound request without a connection after three seconds fails', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const lost = createHttpClient({ privateHosts: [], lookup: (() => {}) as unknown as typeof dnsLookup })
  const failure = expect(lost.send({ url: 'https://example.com/' })).rejects.toThrow(
    'was not connected within 3000 ms'
  )
  vi.advanceTimersByTime(3_000)
  await failure
  expect(vi.getTimerCount()).toBe(0)
})

test('an outbound request fails when its caller aborts it, before or after it was sent', async () => {
  const stopping = new AbortController()
  const arrived = Promise.withResolvers<void>()
  const base = await useServer(() => arrived.resolve())
  const failure = expect(ask(base, { signal: stopping.signal })).rejects.toMatchObject({
    name: 'OutboundFailed'
  })
  await arrived.promise
  stopping.abort()
  await failure
  await expect(ask(base, { signal: stopping.signal })).rejects.toMatchObject({ name: 'OutboundFailed' })
})
