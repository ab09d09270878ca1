import { connect, type Socket } from 'node:net'
import { fastify } from 'fastify'
import { expect, test } from 'vitest'
import { moduleOf, parseRaw, sendRaw, useGateway } from '../../../test/support/gateway.ts'
import { shareShops } from '../../../test/support/shared-shops.ts'
import { loadConfig } from '../../config.ts'
import { createMetricRegistry } from '../../platform/metrics/registry.ts'
import type { RequestClass, Tiers } from '../routing/tiers.ts'
import { createRequestSlots } from './request-slots.ts'

shareShops()

const of = (name: RequestClass) => ({ config: { class: name } })

/** Creates a gateway with few slots; requests to `/api/x/hold/...` hold theirs until released. */
async function useHolding(slots: number, more: (tiers: Tiers) => void = () => {}) {
  const held: { name: string; letGo: () => void }[] = []
  const hold = (name: string) => new Promise<void>(letGo => held.push({ name, letGo }))
  const gateway = await useGateway({
    modules: [
      moduleOf('x', ['/api/x'], tiers => {
        for (const name of ['checkout', 'account', 'browse', 'bulk'] as const) {
          tiers.public.get(`/x/hold/${name}`, of(name), async () => {
            await hold(name)
            return { ok: true }
          })
        }
        more(tiers)
      })
    ],
    settings: { CARTWRIGHT__SERVER__CONCURRENT_REQUESTS_MAX: String(slots) }
  })
  const get = (path: string) => gateway.request('GET', path)
  const letGo = () => held.shift()?.letGo()
  return { gateway, held, get, letGo, hold }
}

type Gateway = Awaited<ReturnType<typeof useHolding>>['gateway']

/** Returns the current values of a metric. */
const samplesOf = ({ platform }: Gateway, name: string) =>
  [...platform.metrics.all()].find(metric => metric.name === name)?.samples() ?? []
const waitingIn = (gateway: Gateway): number =>
  samplesOf(gateway, 'cartwright_requests_waiting')[0]?.value ?? 0
const refusedAtDoor = (gateway: Gateway): number =>
  samplesOf(gateway, 'cartwright_requests_refused_total').find(
    ({ labels }) => labels?.class === 'checkout' && labels?.reason === 'arrival'
  )?.value ?? 0

test('free request slots go to checkouts before carts, and to browsing before imports', async () => {
  const { held, get, letGo } = await useHolding(1)
  const first = get('/api/x/hold/bulk')
  await expect.poll(() => held.length).toBe(1)
  const rest = ['bulk', 'browse', 'account', 'checkout'].map(name => get(`/api/x/hold/${name}`))
  const order: string[] = []
  for (let count = 0; count < 5; count += 1) {
    await expect.poll(() => held.length).toBe(1)
    order.push(held[0]?.name ?? '')
    letGo()
  }
  await Promise.all([first, ...rest])
  expect(order).toEqual(['bulk', 'checkout', 'account', 'browse', 'bulk'])
})

test('a request gets a response by its deadline, even when its handler has not finished', async () => {
  let deadlineIn = 0
  let abandoned = 0
  const { gateway, get, hold, letGo } = await useHolding(1, tiers => {
    tiers.public.get('/x/slow', of('browse'), async request => {
      deadlineIn = request.deadlineAt - performance.now()
      request.onAbandoned = [
        () => {
          abandoned += 1
        }
      ]
      await hold('slow')
      throw new Error('too late')
    })
    tiers.public.get('/x', of('browse'), async () => ({ ok: true }))
  })
  const startedAt = performance.now()
  const answer = await get('/api/x/slow')
  const took = performance.now() - startedAt
  expect(answer.status).toBe(503)
  expect(answer.headers['retry-after']).toBe('1')
  expect(took).toBeGreaterThan(1_900)
  expect(took).toBeLessThan(3_000)
  expect(deadlineIn).toBeGreaterThan(1_500)
  // The handler still runs, so its slot is not free yet.
  expect(abandoned).toBe(0)
  expect((await get('/api/x')).status).toBe(503)
  letGo()
  await expect.poll(() => abandoned).toBe(1)
  expect((await get('/api/x')).status).toBe(200)
  expect(gateway.log.filter(line => Number(line.level) >= 40)).toEqual([])
})

test('a request that is only waiting releases its request slot to another one', async () => {
  const { held, get, letGo } = await useHolding(1, tiers => {
    tiers.public.get('/x/paused', of('browse'), async request => {
      const goOn = request.slot?.pause()
      await get('/api/x/other')
      goOn?.()
      goOn?.()
      return { ok: true }
    })
    tiers.public.get('/x/other', of('browse'), async () => ({ ok: true }))
  })
  expect((await get('/api/x/paused')).status).toBe(200)
  const next = get('/api/x/hold/browse')
  await expect.poll(() => held.length).toBe(1)
  expect((await get('/api/x/other')).status).toBe(503)
  letGo()
  expect((await next).status).toBe(200)
})

/** Sends requests on one connection from `address`, and counts the responses by status. */
function pipeline(port: number, address: string, requests: readonly string[]) {
  const socket = connect({ port, host: '127.0.0.1', localAddress: address })
  let text = ''
  socket.on('data', chunk => {
    text += chunk
  })
  socket.on('error', () => {})
  for (const request of requests) socket.write(request)
  const count = (status: number) => text.split(`HTTP/1.1 ${status}`).length - 1
  return { socket, count }
}
const getOf = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`

test('when request slots are short, requests of the address that holds the most wait behind others', async () => {
  const { gateway, held, letGo } = await useHolding(1)
  const port = await gateway.listen()
  const path = '/api/x/hold/checkout'
  const greedy = Array.from({ length: 12 }, () => pipeline(port, '127.0.0.2', [getOf(path)]))
  await expect.poll(() => waitingIn(gateway)).toBe(11)
  const other = pipeline(port, '127.0.0.3', [getOf(path)])
  await expect.poll(() => waitingIn(gateway)).toBe(12)
  letGo()
  await expect.poll(() => greedy.filter(each => each.count(200) === 1).length).toBe(1)
  await expect.poll(() => held.length).toBe(1)
  letGo()
  await expect.poll(() => other.count(200)).toBe(1)
  for (const { socket } of [...greedy, other]) socket.destroy()
  while (held.length > 0) letGo()
})

test('a request that is refused on arrival keeps its connection, and the response names its request class', async () => {
  const { gateway, held, letGo } = await useHolding(1)
  const port = await gateway.listen()
  const path = '/api/x/hold/checkout'
  const all: Socket[] = []
  const send = (...texts: string[]) => {
    const sent = pipeline(port, '127.0.0.2', texts)
    all.push(sent.socket)
    return sent
  }
  // No request is refused before the throughput is known to be zero.
  await expect
    .poll(() => {
      send(getOf(path))
      return refusedAtDoor(gateway)
    })
    .toBeGreaterThan(0)
  await expect
    .poll(() => {
      for (let count = 0; count < 8; count += 1) send(getOf(path))
      return waitingIn(gateway)
    })
    .toBeGreaterThanOrEqual(8)
  const before = refusedAtDoor(gateway)
  const { count } = send(getOf(path), getOf(path), getOf('/healthz'), getOf('/api/none'))
  await expect.poll(() => [count(503), count(200), count(404)]).toEqual([2, 1, 1])
  expect(refusedAtDoor(gateway)).toBeGreaterThanOrEqual(before + 2)
  for (const socket of all) socket.destroy()
  while (held.length > 0) letGo()
})

test('a connection with more than eight unanswered requests is closed', async () => {
  const { gateway, held } = await useHolding(20)
  const port = await gateway.listen()
  const { count, socket } = pipeline(port, '127.0.0.1', Array(40).fill(getOf('/api/x/hold/browse')))
  await expect.poll(() => held.length).toBe(8)
  for (const { letGo } of held) letGo()
  await expect.poll(() => socket.destroyed).toBe(true)
  expect([count(200), count(503)]).toEqual([8, 1])
  expect(held).toHaveLength(8)
})

test('a connection that is closing is not read further', async () => {
  const { gateway, held } = await useHolding(20)
  const sockets: Socket[] = []
  gateway.app.server.on('connection', socket => sockets.push(socket))
  const port = await gateway.listen()
  const { socket } = pipeline(port, '127.0.0.1', Array(9).fill(getOf('/api/x/hold/browse')))
  await expect.poll(() => held.length).toBe(8)
  socket.write(getOf('/a').repeat(200_000))
  await expect.poll(() => sockets[0]?.isPaused()).toBe(true)
  // Node resumes reading after each response.
  for (const { letGo } of held) {
    letGo()
    await new Promise(setImmediate)
  }
  await expect.poll(() => socket.destroyed).toBe(true)
  expect(sockets[0]?.bytesRead).toBeLessThan(2_000_000)
})

test('a client that does not read its response is disconnected; one that reads slowly is not', async () => {
  const body = 'a'.repeat(24_000_000)
  const { gateway } = await useHolding(4, tiers => {
    tiers.public.get('/x/large', of('browse'), (_request, reply) => reply.send(body))
  })
  const port = await gateway.listen()
  gateway.app.server.timeout = 1_000
  const stalled = connect(port, '127.0.0.1')
  stalled.on('error', () => {})
  stalled.write(getOf('/api/x/large'))
  const open = () =>
    new Promise<number>(done => gateway.app.server.getConnections((_error, count) => done(count)))
  await expect.poll(open).toBe(1)
  await expect.poll(open).toBe(0)
  stalled.destroy()

  const slow = connect(port, '127.0.0.1')
  slow.write('GET /api/x/large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  let bytes = 0
  for await (const chunk of slow) {
    bytes += chunk.length
    await new Promise(resolve => setTimeout(resolve, 5))
  }
  expect(bytes).toBeGreaterThan(body.length)
})

test('with too many connections, one of the address that has the most is closed', async () => {
  const gateway = await useGateway({ settings: { CARTWRIGHT__SERVER__CONNECTIONS_MAX: '10' } })
  const port = await gateway.listen()
  const other = pipeline(port, '127.0.0.3', [getOf('/healthz')])
  await expect.poll(() => other.count(200)).toBe(1)
  const greedy = Array.from({ length: 20 }, () => pipeline(port, '127.0.0.2', [getOf('/healthz')]))
  await expect.poll(() => greedy.filter(({ socket }) => socket.destroyed).length).toBe(11)
  other.socket.write(getOf('/healthz'))
  await expect.poll(() => other.count(200)).toBe(2)
  for (const { socket } of [...greedy, other]) socket.destroy()
})

test('two requests on one connection are answered in the order in which they were sent', async () => {
  const { gateway } = await useHolding(4, tiers => {
    tiers.public.get('/x', of('browse'), async () => ({ ok: true }))
  })
  const port = await gateway.listen()
  const text = await sendRaw(
    port,
    `${getOf('/api/x')}GET /api/none HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`
  )
  expect(parseRaw(text).status).toBe(200)
  expect(text).toContain('HTTP/1.1 404')
})

test('a response that is delayed past the deadline after its handler ended is dropped, because a 503 was sent', async () => {
  const app = fastify()
  const refused: string[] = []
  const metrics = {
    ...createMetricRegistry(),
    counter: () => ({ add: ({ reason }: { reason: string }) => refused.push(reason) })
  }
  const slots = createRequestSlots({ config: loadConfig([], {}), metrics: metrics as never })
  app.decorateRequest('slot', null).decorateRequest('deadlineAt', 0).decorateRequest('onAbandoned', null)
  const { promise: gone, resolve: letGo } = Promise.withResolvers<void>()
  const onSend = async (_request: unknown, _reply: unknown, payload: unknown) => {
    await gone
    return payload
  }
  await app.register(async api => {
    slots.addHooks(api)
    api.get('/x', { ...of('browse'), onSend }, async () => ({ ok: true }))
    api.get('/y', of('browse'), async () => ({ ok: true }))
  })
  expect((await app.inject('/x')).statusCode).toBe(503)
  letGo()
  expect((await app.inject('/y')).statusCode).toBe(200)
  expect(refused).toEqual(['deadline'])
  await app.close()
})
