import { randomInt } from 'node:crypto'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { type Answer, createHttpClient, type HttpClient } from '../support/http-client.ts'
import { type CartShop, quantitiesOf, useCartShop } from '../support/use-cart-shop.ts'

const CLIENTS = 64
const OPERATIONS_EACH = 24
const RETRY_MS_MAX = 20_000
const CUT_MS_MAX = 6

/** Totals of the acknowledged changes of all clients to the one cart. */
type Tally = { shared: number; changes: number; cut: number; refused: Record<string, number> }
type Race = { http: HttpClient; token: string; shared: string; tally: Tally }

/** Retries a request until its response is 200, over cut connections and while an earlier try still runs. */
async function insist(
  { http, token, tally }: Race,
  method: string,
  path: string,
  body: unknown,
  cuts = 0
): Promise<Answer> {
  const headers = { 'idempotency-key': newId() }
  const deadline = performance.now() + RETRY_MS_MAX
  for (let attempt = 0; ; attempt += 1) {
    const cut = attempt < cuts ? { cutAfterMs: randomInt(CUT_MS_MAX) } : {}
    const answer = await http.send(method, path, { token, headers, body, ...cut })
    if (answer?.status === 200) return answer
    if (answer === undefined) tally.cut += 1
    const code = answer?.json.code as string | undefined
    if (code !== undefined) tally.refused[code] = (tally.refused[code] ?? 0) + 1
    // A busy machine may ask to come again; what was promised is only that nothing is done twice.
    const isAsked = answer?.status === 503 && (code === 'OVERLOADED' || code === 'DATABASE_BUSY')
    const mayRetry = answer === undefined || code === 'IDEMPOTENCY_KEY_IN_PROGRESS' || isAsked
    if (!mayRetry || performance.now() > deadline) {
      throw new Error(`${method} ${path}: ${answer?.status} ${JSON.stringify(answer?.json)}`)
    }
    if (answer !== undefined) await delay(randomInt(5, 20))
  }
}

/** Sends without a key. A busy machine may ask to come again, before it has done anything. */
async function ask(
  { http, token }: Race,
  method: string,
  path: string,
  body?: unknown
): Promise<Answer | undefined> {
  for (const deadline = performance.now() + RETRY_MS_MAX; ; ) {
    const answer = await http.send(method, path, { token, body })
    if (answer?.status !== 503 || performance.now() > deadline) return answer
    await delay(randomInt(5, 20))
  }
}

/** One client: additions to the line that all share, and its own line, which no other client touches. */
function createClient(race: Race, mine: string) {
  const { shared, tally } = race
  let own: number | undefined
  const item = `/api/cart/items/${mine}`
  const addShared = async (cuts: number) => {
    const quantity = randomInt(1, 4)
    await insist(race, 'POST', '/api/cart', { variant_id: shared, quantity }, cuts)
    tally.shared += quantity
    tally.changes += 1
  }
  const operations = [
    () => addShared(0),
    () => addShared(1),
    () => addShared(3),
    async () => {
      const body = { variant_id: shared, quantity: 1 }
      const answer = await ask(race, 'POST', '/api/cart', body)
      expect(answer?.status).toBe(200)
      tally.shared += 1
      tally.changes += 1
    },
    async () => {
      const quantity = randomInt(1, 4)
      const guest = await ask(race, 'POST', '/api/guest-cart', { variant_id: shared, quantity })
      const body = { guest_cart_token: guest?.json.guest_cart_token }
      const { json } = await insist(race, 'POST', '/api/cart/merge', body, randomInt(3))
      expect(['merged', 'already_merged']).toContain(json.merge.status)
      tally.shared += quantity
      tally.changes += 1
    },
    async () => {
      const items = [
        { variant_id: shared, quantity: 2 },
        { variant_id: mine, quantity: 1 }
      ]
      await insist(race, 'POST', '/api/cart/merge', { items, strategy: 'sum' }, randomInt(2))
      tally.shared += 2
      own = (own ?? 0) + 1
      tally.changes += 1
    },
    async () => {
      const { json } = await insist(race, 'POST', '/api/cart', { variant_id: mine, quantity: 2 })
      own = (own ?? 0) + 2
      tally.changes += 1
      expect(quantitiesOf(json)[mine]).toBe(own)
    },
    async () => {
      const answer = await ask(race, 'PUT', item, { quantity: 5 })
      expect(answer?.status).toBe(own === undefined ? 404 : 200)
      if (own === undefined) return
      own = 5
      tally.changes += 1
    },
    async () => {
      await insist(race, 'DELETE', item, undefined, randomInt(2))
      if (own !== undefined) tally.changes += 1
      own = undefined
    },
    async () => {
      const answer = await ask(race, 'GET', '/api/cart')
      expect(quantitiesOf(answer?.json)[mine]).toBe(own)
    }
  ]
  return {
    run: async () => {
      for (let turn = 0; turn < OPERATIONS_EACH; turn += 1) await operations[randomInt(operations.length)]?.()
    },
    own: () => own
  }
}

async function deadlocksOf(shop: CartShop): Promise<unknown> {
  // What a connection counted is certain to be visible once the connection has ended.
  await shop.platform.close()
  const others = `select count(*)::int as n from pg_stat_activity
                  where datname = current_database() and application_name = 'cartwright'`
  await expect.poll(async () => (await shop.sql(others))[0]?.n).toBe(0)
  const rows = await shop.sql(
    'select deadlocks::int as deadlocks from pg_stat_database where datname = current_database()'
  )
  return rows[0]?.deadlocks
}

test('64 clients that change one cart, with merges, cut connections and retries, leave the exact sum', async () => {
  const shop = await useCartShop({ CARTWRIGHT__CART__LINE_QUANTITY_MAX: '100000' })
  await shop.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = shop.app.server.address() as AddressInfo
  const http = createHttpClient(`http://127.0.0.1:${port}`, CLIENTS)
  const race = {
    http,
    token: newId(),
    shared: shop.catalog.sell(),
    tally: { shared: 0, changes: 0, cut: 0, refused: {} }
  }
  const lines = Array.from({ length: CLIENTS }, () => shop.catalog.sell())
  const clients = lines.map(line => createClient(race, line))
  await Promise.all(clients.map(client => client.run()))
  // The first try of a request whose connection was cut may still run.
  await expect.poll(() => shop.db.statistics().acquired_conns).toBe(0)
  http.close()

  const { json } = await shop.request('GET', '/api/cart', { token: race.token })
  const owned = lines.map((line, index) => [line, clients[index]?.own()] as const)
  const expected = Object.fromEntries(
    [[race.shared, race.tally.shared] as const, ...owned].filter(([, n]) => n)
  )
  expect(quantitiesOf(json)).toEqual(expected)
  expect(json.version).toBe(race.tally.changes)
  expect(json.count).toBe(Object.values(expected).reduce<number>((sum, n) => sum + (n ?? 0), 0))
  expect((await shop.request('GET', '/api/cart/count', { token: race.token })).json.count).toBe(json.count)
  expect(race.tally.cut).toBeGreaterThan(100)
  expect(await shop.sql('select 1 from cart.guest_carts where merged_into is null')).toEqual([])
  expect(shop.log.filter(line => /"status":5(?!03)/.test(line))).toEqual([])
  expect(await deadlocksOf(shop)).toBe(0)
})

test('cart requests whose clients disconnect release their request slots', async () => {
  const shop = await useCartShop({ CARTWRIGHT__SERVER__CONCURRENT_REQUESTS_MAX: '4' })
  await shop.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = shop.app.server.address() as AddressInfo
  const http = createHttpClient(`http://127.0.0.1:${port}`, 4)
  const token = newId()
  const body = { variant_id: shop.catalog.sell(), quantity: 1 }
  const { offers } = shop.catalog
  const answer: (() => void)[] = []
  shop.catalog.offers = async (...asked) => {
    await new Promise<void>(resolve => answer.push(resolve))
    return offers(...asked)
  }
  const count = async () => (await http.send('GET', '/api/cart/count', { token }))?.json.count
  for (let round = 1; round <= 4; round += 1) {
    const sent = [0, 1, 2].map(() => http.send('POST', '/api/cart', { token, body, cutAfterMs: 50 }))
    expect(await Promise.all(sent)).toEqual([undefined, undefined, undefined])
    await expect.poll(() => answer.length).toBe(3)
    for (const release of answer.splice(0)) release()
    // Reading the view of what was added sends one more statement to the catalog.
    await expect.poll(() => answer.length).toBe(3)
    for (const release of answer.splice(0)) release()
    await expect.poll(count).toBe(round * 3)
  }
  // Other clients disconnect before they have sent their whole body.
  const head = `POST /api/cart HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}`
  const length = 'Content-Type: application/json\r\nContent-Length: 100'
  for (let caller = 1; caller <= 12; caller += 1) {
    const socket = connect(port, '127.0.0.1')
    await new Promise(resolve => socket.write(`${head}\r\n${length}\r\n\r\n{`, resolve))
    socket.destroy()
  }
  await expect.poll(count).toBe(12)
  http.close()
})
