import { setTimeout } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { STOCKHOLM } from '../support/checkouts.ts'
import { createTestDatabase } from '../support/database.ts'
import { type Answer, createHttpClient } from '../support/http-client.ts'
import { startProgram } from '../support/program.ts'
import { until } from './until.ts'

const ADMIN = { email: 'boss@shop.example', password: 'nine lives and a piano' }
const CLIENT = 'c'.repeat(32)
const SOCKETS = 1_000
const PLENTY = 100_000

type Ask = () => Promise<Answer | undefined>

/** The real program without limits by address, and what clients ask of it in bursts. */
async function useShop() {
  const database = await createTestDatabase()
  const program = startProgram({
    DATABASE_URL: database.url,
    CARTWRIGHT_ADMIN_EMAIL: ADMIN.email,
    CARTWRIGHT_ADMIN_PASSWORD: ADMIN.password,
    CARTWRIGHT__RATE_LIMIT__ENABLED: 'false',
    CARTWRIGHT__PAYMENTS__BANK_TRANSFER: 'To account 1.',
    CARTWRIGHT__SERVER__TRUSTED_CLIENTS: JSON.stringify([CLIENT]),
    CARTWRIGHT__SHOP__DEMO: 'on'
  })
  onTestFinished(async () => {
    program.child.kill('SIGKILL')
    await program.ended
    await database.drop()
  })
  const client = createHttpClient(await program.listening, SOCKETS)
  onTestFinished(client.close)
  await until('the shop is open', () => program.output.stdout.includes('Try it:'), 60_000)
  const { access_token: token } = (await client.send('POST', '/api/auth/login', { body: ADMIN }))?.json ?? {}
  const variantOf = async (product: string): Promise<string> =>
    (await client.send('GET', `/api/products/${product}`))?.json.variants[0].id
  const count = async (variantId: string, on_hand: number) => {
    const answer = await client.send('PUT', `/api/inventory/levels/${variantId}`, {
      token,
      body: { on_hand }
    })
    expect(answer?.status).toBe(200)
  }
  const [plenty, scarce] = [await variantOf('fika-mug'), await variantOf('ripple-tumbler')]
  await count(plenty, PLENTY)
  let shoppers = 0
  const shopper = () => {
    shoppers += 1
    const address = `10.${(shoppers >> 16) & 255}.${(shoppers >> 8) & 255}.${shoppers & 255}`
    return { 'x-cartwright-client': CLIENT, 'x-shopper-address': address }
  }
  const order = (variant_id: string) =>
    client.send('POST', '/api/orders/guest', {
      headers: shopper(),
      body: {
        email: `guest-${crypto.randomUUID()}@example.com`,
        items: [{ variant_id, quantity: 1 }],
        shipping_address: STOCKHOLM,
        payment: { provider: 'manual', method: 'bank_transfer' }
      }
    })
  const kinds: Record<string, Ask> = {
    cart: () => client.send('POST', '/api/guest-cart', { body: { variant_id: plenty, quantity: 1 } }),
    order: () => order(plenty),
    adjustment: () =>
      client.send('POST', '/api/inventory/adjustments', {
        token,
        body: { variant_id: plenty, delta: 1, reason: 'burst' }
      }),
    // Unknown accounts cost as much as known ones, and failures are limited by account and address.
    'log-in': () =>
      client.send('POST', '/api/auth/login', {
        headers: shopper(),
        body: { email: `${crypto.randomUUID()}@example.com`, password: ADMIN.password }
      })
  }
  return { client, kinds, scarce, count, order }
}

/** Sends a burst and counts its responses by status and code. */
async function burst(ask: Ask, count: number) {
  const startedAt = performance.now()
  const statuses = new Map<string, number>()
  let [refused, slowestRefusalMs, saysWhen] = [0, 0, true]
  await Promise.all(
    Array.from({ length: count }, async () => {
      const answer = await ask()
      const code = answer?.json?.code
      const key = code === undefined ? `${answer?.status}` : `${answer?.status} ${code}`
      statuses.set(key, (statuses.get(key) ?? 0) + 1)
      if (answer?.status !== 503) return
      refused += 1
      slowestRefusalMs = Math.round(performance.now() - startedAt)
      saysWhen &&= answer.headers['retry-after'] !== undefined
    })
  )
  const ms = Math.round(performance.now() - startedAt)
  const perSecond = Math.round(((count - refused) / ms) * 1_000)
  return { statuses: Object.fromEntries(statuses), ms, perSecond, slowestRefusalMs, saysWhen, refused }
}

/** A process that is idle for a second discards its measured throughput. */
const IDLE_MS = 1_200
/** The speed of a burst is only tested on an otherwise idle machine: `BURSTS=1`. */
const isAlone = process.env.BURSTS !== undefined
/** The response to an accepted request by kind; 201 for the other kinds. */
const SERVED: Record<string, string> = { 'log-in': '401 AUTH_INVALID_CREDENTIALS' }
const REFUSED_WITHIN_MS: Record<string, number> = { 'log-in': 1_750 }

test.runIf(isAlone).each([100, 300])(
  'a burst of %i requests on an idle shop is served completely',
  async count => {
    const { kinds } = await useShop()
    // A process that has just started compiles its code.
    for (const ask of Object.values(kinds)) await burst(ask, 20)
    for (const [name, ask] of Object.entries(kinds)) {
      await setTimeout(IDLE_MS)
      const seen = await burst(ask, count)
      console.log(`${count} x ${name}:`, JSON.stringify(seen))
      expect(seen.statuses, name).toEqual({ [SERVED[name] ?? '201']: count })
    }
  }
)

test.runIf(isAlone)(
  "of a burst of 1,000 requests one second's worth is served, and the rest is rejected early",
  async () => {
    const { kinds } = await useShop()
    for (const ask of Object.values(kinds)) await burst(ask, 300)
    for (const [name, ask] of Object.entries(kinds)) {
      await setTimeout(IDLE_MS)
      const seen = await burst(ask, 1_000)
      console.log(`1000 x ${name}:`, JSON.stringify(seen))
      const served = seen.statuses[SERVED[name] ?? '201'] ?? 0
      expect(served + seen.refused, name).toBe(1_000)
      expect(served, name).toBeGreaterThanOrEqual(Math.min(1_000, seen.perSecond))
      expect(seen.slowestRefusalMs, name).toBeLessThanOrEqual(REFUSED_WITHIN_MS[name] ?? 1_250)
      expect(seen.saysWhen, name).toBe(true)
    }
  }
)

test('of 50 guests that simultaneously buy a stock of 10, ten get an order and 40 get INVENTORY_SHORT', {
  timeout: 60_000
}, async () => {
  const { kinds, scarce, count, order } = await useShop()
  await burst(kinds.cart as Ask, 100)
  await count(scarce, 10)
  const { statuses } = await burst(() => order(scarce), 50)
  expect(statuses).toEqual({ 201: 10, '409 INVENTORY_SHORT': 40 })
})
