import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { type Program, startProgram } from '../support/program.ts'
import { useProxiedDatabase } from './postgres-proxy.ts'
import { until } from './until.ts'

/** The real program on a database behind a proxy, with limits by address out of the way. `asked` is all that it asked for. */
async function useProgram(settings: Record<string, string> = {}) {
  const asked: string[] = []
  const database = await useProxiedDatabase((_connection, direction, chunk) => {
    if (direction === 'to_server') asked.push(chunk.toString('latin1'))
    return 'pass'
  })
  const program = startProgram({
    DATABASE_URL: database.url,
    CARTWRIGHT__RATE_LIMIT__ENABLED: 'false',
    CARTWRIGHT__SHOP__DEMO: 'on',
    ...settings
  })
  onTestFinished(() => end(program))
  const address = await program.listening
  return { ...program, address, port: Number(new URL(address).port), proxy: database.proxy, asked }
}

async function end({ child, ended }: Program): Promise<void> {
  child.kill('SIGKILL')
  await ended
}

/** Opens connections of one address that send `text` and never read the response. */
async function attack(
  port: number,
  count: number,
  text: string,
  localAddress = '127.0.0.2'
): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => connect({ port, host: '127.0.0.1', localAddress }))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
  })
  await Promise.all(
    sockets.map(async socket => {
      socket.on('error', () => {})
      await once(socket, 'connect')
      socket.pause().write(text)
    })
  )
  return sockets
}

const statuses = async (count: number, send: () => Promise<Response>): Promise<number[]> => {
  const all: number[] = []
  for (let index = 0; index < count; index += 1) {
    const answer = await send()
    await answer.arrayBuffer()
    all.push(answer.status)
  }
  return [...new Set(all)]
}

const register = async (address: string): Promise<string> => {
  const answer = await fetch(`${address}/api/auth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'customer@example.com', password: 'correct horse battery staple' })
  })
  expect(answer.status).toBe(201)
  const { access_token: token } = (await answer.json()) as { access_token: string }
  // This request caches the verified token, so later ones need no query for it.
  await fetch(`${address}/api/cart`, { headers: { authorization: `Bearer ${token}` } })
  return token
}

const customerOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).sub

test('responses that a client does not read delay no other client', async () => {
  const { address, port } = await useProgram()
  const request = 'GET /api/products?limit=100 HTTP/1.1\r\nHost:localhost\r\n\r\n'
  // 8 MB of answers fill all buffers on the way; behind them, 1,300 more requests arrive in one piece.
  const sockets = await attack(port, 3, request.repeat(600))
  await statuses(50, () => fetch(`${address}/healthz`))
  for (const socket of sockets) socket.write(request.repeat(1_300))
  await statuses(50, () => fetch(`${address}/healthz`))
  expect(await statuses(20, () => fetch(`${address}/api/products`))).toEqual([200])
})

test('request bodies that never arrive delay no other client', async () => {
  const { address, port } = await useProgram()
  const head = 'POST /api/guest-cart HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
  await attack(port, 1_010, `${head}Content-Length: 50\r\n\r\n{`)
  expect(await statuses(20, () => fetch(`${address}/api/products`))).toEqual([200])
})

test('CONNECT, silent connections and a request in progress at SIGTERM do not prevent the exit', async () => {
  const { address, port, proxy, child, ended, asked } = await useProgram()
  const connects = await attack(port, 100, 'CONNECT x:1 HTTP/1.1\r\nHost: localhost:1\r\n\r\n')
  for (const socket of connects) socket.resume()
  await until('every CONNECT connection is closed', () =>
    connects.every(socket => socket.readableEnded || socket.destroyed)
  )
  await attack(port, 20, 'CONNECT x:1 HTTP/1.1\r\nHost: localhost:1\r\n\r\n')
  await attack(port, 20, '')
  await attack(port, 20, 'GET /api/products HTTP/1.1\r\nHo')
  const upgrade =
    'GET /api/products HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
  await attack(port, 20, upgrade)
  const token = await register(address)

  proxy.hang()
  asked.length = 0
  const busy = connect(port, '127.0.0.1')
  let answer = ''
  busy.on('error', () => {})
  busy.on('data', chunk => {
    answer += chunk
  })
  busy.write(`GET /api/cart HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`)
  await until('the program queries the cart', () => asked.some(chunk => chunk.includes(customerOf(token))))
  child.kill('SIGTERM')
  const signalled = performance.now()
  await until('the program accepts no further connection', () =>
    fetch(address).then(
      () => false,
      () => true
    )
  )
  await proxy.restore()
  expect((await ended).code).toBe(0)
  expect(performance.now() - signalled).toBeLessThan(5_000)
  expect(answer).toMatch(/^HTTP\/1\.1 200/)
  expect(answer).toMatch(/connection: close/i)
})

test('a request without a body that the database delays gets 503, and no other request is aborted', async () => {
  const { address, proxy, child } = await useProgram({ CARTWRIGHT__SERVER__BODY_SECONDS: '1' })
  const token = await register(address)
  proxy.hang()
  const startedAt = performance.now()
  const answers = await Promise.all(
    ['DELETE', 'GET', 'DELETE'].map(method =>
      fetch(`${address}/api/cart`, { method, headers: { authorization: `Bearer ${token}` } })
    )
  )
  expect(performance.now() - startedAt).toBeLessThan(6_500)
  expect(answers.map(answer => answer.status)).toEqual([503, 503, 503])
  expect((await fetch(`${address}/healthz`)).status).toBe(200)
  expect(child.exitCode).toBe(null)
  await proxy.restore()
  const again = () => fetch(`${address}/api/cart`, { headers: { authorization: `Bearer ${token}` } })
  await until('the cart is served again', async () => (await again()).status === 200)
})
