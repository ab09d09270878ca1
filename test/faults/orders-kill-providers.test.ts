import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { admin, customer, openTestShop } from '../../src/testing.ts'
import { CHECKOUT_MODULES } from '../support/checkouts.ts'
import { sent } from '../support/orders.ts'
import { CARD } from '../support/paid-orders.ts'
import { type CrashPoint, startVictim } from './crash-points.ts'
import { TIMEOUT_MS, useCrashShop } from './crash-shop.ts'
import { ENGINE_RATE_PPM, providerModule } from './provider-module.ts'

// Lane long: it takes 10 seconds. orders-kill-place.test.ts kills a process while it places an order.

const ADMIN = admin()
const NET = 2_490
const TAX = (NET * ENGINE_RATE_PPM) / 1_000_000

/** A carrier that sells labels, in the process of the test. */
async function useCarrier() {
  const bought = new Set<string>()
  const server = createServer((request, response) => {
    bought.add(String(request.url).slice(1))
    response.end()
  }).listen(0, '127.0.0.1')
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise(resolve => server.once('listening', resolve))
  return { bought, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

async function useProviders() {
  const { bought, url } = await useCarrier()
  const shop = await useCrashShop('automatic', ['providers'], { CARTWRIGHT__PROVIDERS__CARRIER_URL: url })
  const shipments: string[] = []
  return {
    ...shop,
    bought,
    shipments,
    /** The request for a label of a new order. */
    newLabel: async () => {
      const { id } = await shop.order()
      await shop.pay(id)
      const [shipment] = await shop.sql('select id from shipping.shipments where order_id = $1', [id])
      shipments.push(String(shipment?.id))
      const path = `/api/admin/shipping/shipments/${shipment?.id}/label`
      return shop.keyed({ method: 'POST', path, token: ADMIN.token, body: {} })
    },
    labels: () => shop.sql('select id, shipment_id, status from shipping.labels order by created_at')
  }
}

test(
  'an order whose process is killed while the answer of a tax engine is stored has its taxes once',
  async () => {
    const shop = await useProviders()
    const prepare = async () => {
      await shop.sql('delete from pricing.tax_answers')
      const body = { ...sent(shop.mug, 2), payment: CARD }
      return shop.keyed({ method: 'POST', path: '/api/orders', token: customer().token, body })
    }
    const crashPoints: CrashPoint[] = [
      { statement: 'pricing.store_tax_answer', at: 'before' },
      { statement: 'pricing.store_tax_answer', at: 'behind' },
      { statement: 'idempotency.mark_key_applied', at: 'behind its commit' }
    ]
    await shop.atEachCrashPoint(crashPoints, prepare, async (crashPoint, _, request) => {
      const order = await shop.retried(crashPoint, request)
      expect(order, crashPoint).toMatchObject({ total: NET + TAX, tax_total: TAX })
      const answers = 'select count(*)::int from pricing.tax_answers'
      expect(await shop.sql(answers), crashPoint).toEqual([{ count: 1 }])
    })
    const engines = await shop.sql('select distinct tax_engine from orders.orders')
    expect(engines).toEqual([{ tax_engine: { name: 'abacus', is_fallback: false } }])
    await shop.expectMatchingLedgers()
  },
  TIMEOUT_MS
)

test(
  'a label whose process is killed while it is requested is bought once',
  async () => {
    const shop = await useProviders()
    const crashPoints: CrashPoint[] = [
      { statement: 'shipping.insert_label', at: 'behind' },
      { statement: 'idempotency.mark_key_applied', at: 'behind its commit' }
    ]
    await shop.atEachCrashPoint(crashPoints, shop.newLabel, async (crashPoint, _, request) => {
      await shop.retried(crashPoint, request)
    })
    const ready = shop.shipments.map(shipment_id => expect.objectContaining({ shipment_id, status: 'ready' }))
    await expect.poll(shop.labels).toEqual(ready)
    expect([...shop.bought].sort()).toEqual((await shop.labels()).map(({ id }) => id).sort())
  },
  TIMEOUT_MS
)

const PURCHASE: readonly CrashPoint[] = [
  { statement: 'shipping.store_bought_label', at: 'before' },
  { statement: 'shipping.store_bought_label', at: 'behind' }
]

test('a label whose process is killed while it is bought is bought once', async () => {
  const shop = await useProviders()
  const requests = []
  for (const _ of PURCHASE) requests.push(await shop.newLabel())
  await shop.platform.outbox.stop()
  for (const [at, crashPoint] of PURCHASE.entries()) {
    const { method, path, ...options } = requests[at] ?? (await shop.newLabel())
    const victim = await startVictim(shop, shop.settings, 'jobs', 'providers')
    await victim.crashInBackground(crashPoint, () => shop.request(method, path, options))
    expect(shop.bought.size).toBe(at + 1)
    // The leases of the killed process expire, and another process continues.
    await shop.sql('update cartwright.jobs set due_at = now(), lease = null where lease is not null')
    const { databaseUrl, settings } = shop
    const modules = [...CHECKOUT_MODULES, providerModule]
    const nextProcess = await openTestShop({ modules, databaseUrl, settings })
    try {
      await expect.poll(async () => (await shop.labels())[at]?.status).toBe('ready')
    } finally {
      await nextProcess.close()
    }
  }
  expect([...shop.bought].sort()).toEqual((await shop.labels()).map(({ id }) => id).sort())
})
