import { expect, test } from 'vitest'
import { CHECKOUT_MODULES, STOCKHOLM, useCheckouts } from '../../../../test/support/checkouts.ts'
import { heldByRequests, NOTHING_HELD } from '../../../../test/support/held.ts'
import { sent, TRANSFER } from '../../../../test/support/orders.ts'
import { moduleProviding } from '../../../../test/support/ports.ts'
import { needsOwnShop, openShared, shareShops } from '../../../../test/support/shared-shops.ts'
import { provide } from '../../../kernel/ports.ts'
import { customer } from '../../../testing.ts'
import { type TaxEngine, type TaxRequest, taxEnginePort } from '../../pricing/index.ts'
import { deleteExpiredTaxAnswers } from '../../pricing/tax-engine/repository.ts'

shareShops()

const TENTH: TaxEngine['computeTaxes'] = async ({ components }) =>
  components.map(({ amountMinor }) => ({ ratePpm: 100_000, taxMinor: Math.round(amountMinor / 10) }))

/** The engine of the test that runs, in one process. */
type CurrentEngine = { answer: TaxEngine['computeTaxes']; asked: TaxRequest[] }
const openEngine = async () => {
  const current: CurrentEngine = { answer: TENTH, asked: [] }
  const computeTaxes: TaxEngine['computeTaxes'] = async (request, signal) => {
    current.asked.push(request)
    return current.answer(request, signal)
  }
  return { current, module: moduleProviding(provide(taxEnginePort, 'abacus', { computeTaxes })) }
}
const useTaxes = ({ made, databaseUrl }: Awaited<ReturnType<typeof useCheckouts>>) =>
  openShared(['taxes', databaseUrl], async () => {
    const zone = await made('taxes/zones', { name: 'Sweden', country: 'SE' })
    await made('taxes/rates', { zone_id: zone.id, category: 'standard', name: 'VAT', rate_ppm: 250_000 })
  })

/** A shop with 25 % tax and an engine that takes 10 %, which a test replaces by `answer`. */
async function useEngine({ databaseUrl }: { databaseUrl?: string } = {}) {
  const isFirst = databaseUrl === undefined
  const { current, module } = isFirst ? await openShared(['engine'], openEngine) : await openEngine()
  const modules = [...CHECKOUT_MODULES, module]
  const shop = await useCheckouts({ modules, ...(!isFirst && { databaseUrl }) })
  if (isFirst) {
    await shop.usePost()
    await useTaxes(shop)
  }
  const asked: TaxRequest[] = []
  Object.assign(current, { answer: TENTH, asked })
  const counted = () =>
    Object.fromEntries(
      [...shop.platform.metrics.all()]
        .filter(({ name }) => name === 'cartwright_pricing_tax_requests_total')
        .flatMap(metric => metric.samples())
        .filter(({ value }) => value > 0)
        .map(({ labels, value }) => [String(labels?.outcome), value])
    )
  const before = counted()
  /** The outcomes of requests of this test. */
  const outcomes = () =>
    Object.fromEntries(
      Object.entries(counted())
        .map(([outcome, count]) => [outcome, count - (before[outcome] ?? 0)] as const)
        .filter(([, count]) => count > 0)
    )
  return {
    ...shop,
    mug: isFirst ? await shop.sell() : '',
    buyer: shop.as(customer()),
    asked,
    outcomes,
    answer: (answer: TaxEngine['computeTaxes']) => {
      current.answer = answer
    },
    expire: () => shop.sql("update pricing.tax_answers set expires_at = now() - interval '1 second'")
  }
}
const begin = async ({ buyer, mug }: Awaited<ReturnType<typeof useEngine>>, body = sent(mug)) => {
  const { status, json, text } = await buyer.post('/api/checkouts', body)
  expect(status, text).toBe(201)
  return json
}

test('an engine computes the taxes of lines and delivery, and the order records them and its name', async () => {
  const shop = await useEngine()
  const { buyer, admin, asked, mug, outcomes } = shop
  const checkout = await begin(shop, sent(mug, 2))
  expect(asked).toEqual([
    {
      market: 'default',
      currency: 'USD',
      pricesIncludeTax: false,
      components: [
        {
          variantId: mug,
          productId: expect.any(String),
          taxCategory: 'standard',
          quantity: 2,
          amountMinor: 2_000,
          destination: { country: 'SE', region: null, postalCode: expect.stringMatching(/^111 ?51$/) }
        },
        expect.objectContaining({ variantId: null, productId: null, quantity: 1, amountMinor: 490 })
      ]
    }
  ])
  expect(checkout).toMatchObject({ tax_total: 249, total: 2_739 })
  expect(checkout.tax_summary).toMatchObject([{ rate_ppm: 100_000, net: 2_490, tax: 249 }])
  const { status, json } = await buyer.post(`/api/checkouts/${checkout.id}/complete`, { payment: TRANSFER })
  expect([status, json.total, json.tax_total]).toEqual([201, 2_739, 249])
  expect(json).not.toHaveProperty('tax_engine')
  const read = async () => (await admin.get(`/api/admin/orders/${json.id}`)).json
  expect((await read()).tax_engine).toEqual({ name: 'abacus', is_fallback: false })
  expect(asked).toHaveLength(1)
  expect(outcomes()).toEqual({ valid: 1 })

  const [payment] = await shop.sql('select id from payments.payments where order_id = $1', [json.id])
  expect((await admin.post(`/api/admin/payments/${payment?.id}/capture`, {})).status).toBe(200)
  const canceled = await admin.post(`/api/admin/orders/${json.id}/cancel`, {})
  expect(canceled.status, canceled.text).toBe(200)
  expect((await read()).adjustments).toMatchObject([{ kind: 'cancel', amount: 2_739 }])
  expect((await read()).adjustments[0].parts.map(({ tax }: { tax: number }) => tax)).toEqual([200, 49])
})

test('the price that a buyer saw stays for some minutes, also in another process and when the engine changes it', async () => {
  const shop = await useEngine()
  const { answer, buyer, expire, asked, sql } = shop
  await sql('delete from pricing.tax_answers')
  const checkout = await begin(shop)
  const other = await useEngine({ databaseUrl: shop.databaseUrl })
  const changed: TaxEngine['computeTaxes'] = async ({ components }) =>
    components.map(() => ({ ratePpm: 0, taxMinor: 0 }))
  answer(changed)
  other.answer(changed)
  const elsewhere = await other.anonymous.post('/api/checkouts/guest', sent(shop.mug))
  expect(elsewhere.json.quote_hash).toBe(checkout.quote_hash)
  const { statements } = await shop.record(() => buyer.get(`/api/checkouts/${checkout.id}`))
  expect(statements.filter(name => name.includes('tax_answer'))).toEqual(['pricing.find_tax_answer'])
  expect([asked.length, other.asked.length]).toEqual([1, 0])

  await expire()
  const complete = (body: object) => buyer.post(`/api/checkouts/${checkout.id}/complete`, body)
  const refused = await complete({})
  expect([refused.status, refused.json.code, refused.json.quote.total]).toEqual([
    409,
    'ORDER_PRICE_CHANGED',
    1_490
  ])
  expect((await complete({ expected_total: 1_490 })).json.total).toBe(1_490)
  await expire()
  expect(await shop.db.run(deleteExpiredTaxAnswers, { limit: 10 })).toBe(1)
})

test('a failed engine falls back to the rates of the shop, and the price stays when the engine recovers', async () => {
  const shop = await useEngine()
  const { answer, buyer, admin, asked, outcomes, log } = shop
  answer(() => Promise.reject(new Error('no connection to 192.0.2.1')))
  const checkout = await begin(shop)
  expect(checkout).toMatchObject({ tax_total: 373, total: 1_863 })
  answer(TENTH)
  const { status, json } = await buyer.post(`/api/checkouts/${checkout.id}/complete`, {})
  expect([status, json.total]).toEqual([201, 1_863])
  const { json: order } = await admin.get(`/api/admin/orders/${json.id}`)
  expect(order.tax_engine).toEqual({ name: 'abacus', is_fallback: true })
  expect(asked).toHaveLength(1)
  expect(outcomes()).toEqual({ failed: 1 })
  expect(log.filter(line => line.includes('192.0.2.1'))).toHaveLength(1)
})

test.each<[string, TaxEngine['computeTaxes']]>([
  ['too few taxes', async () => []],
  ['negative taxes', async ({ components }) => components.map(() => ({ ratePpm: 0, taxMinor: -1 }))],
  [
    'a rate that does not fit',
    async ({ components }) => components.map(() => ({ ratePpm: 19, taxMinor: 190 }))
  ]
])('an engine that returns %s is not believed: the rates of the shop apply', async (_, wrong) => {
  const shop = await useEngine()
  shop.answer(wrong)
  expect(await begin(shop)).toMatchObject({ tax_total: 373, total: 1_863 })
  expect(shop.outcomes()).toEqual({ invalid: 1 })
})

test('an engine that fails five times is not asked for a while', async () => {
  needsOwnShop()
  const shop = await useEngine()
  shop.answer(() => Promise.reject(new Error('no')))
  for (let quantity = 1; quantity <= 6; quantity += 1) await begin(shop, sent(shop.mug, quantity))
  expect(shop.asked).toHaveLength(5)
  expect(shop.outcomes()).toEqual({ failed: 5, skipped: 1 })
})

test('while an engine hangs, its callers hold no slot, connection or lock; then the rates of the shop apply', async () => {
  needsOwnShop()
  const shop = await useEngine()
  const { answer, buyer, anonymous, admin, asked, mug, sql } = shop
  const checkout = await begin(shop)
  await sql('delete from pricing.tax_answers')
  const aborted: AbortSignal[] = []
  answer((_, signal) => {
    aborted.push(signal)
    return new Promise(() => {})
  })
  const key = () => ({ 'idempotency-key': crypto.randomUUID() })
  const guest = { email: 'ada@example.com' }
  // Each has another quantity, because equal baskets share a request.
  const requests = [
    buyer.get(`/api/checkouts/${checkout.id}`),
    buyer.post('/api/checkouts', sent(mug, 2), key()),
    buyer.put(`/api/checkouts/${checkout.id}`, sent(mug, 3), key()),
    buyer.post('/api/orders', sent(mug, 4), key()),
    anonymous.post('/api/orders/guest', { ...sent(mug, 5), ...guest }),
    admin.post('/api/admin/orders/quote', { ...sent(mug, 6), ...guest }),
    // One that waits for an equal request.
    anonymous.post('/api/checkouts/guest', sent(mug, 2))
  ]
  let answered = 0
  for (const request of requests) request.then(() => (answered += 1))
  await expect.poll(() => asked.length).toBe(7)
  await expect
    .poll(async () => ({ answered, ...(await heldByRequests(shop)) }))
    .toEqual({ answered: 0, ...NOTHING_HELD })
  for (const { status, json, text } of await Promise.all(requests)) {
    expect(status, text).toBeLessThan(300)
    expect(json.tax_summary, text).toMatchObject([{ rate_ppm: 250_000 }])
  }
  expect(aborted.map(signal => signal.aborted)).toEqual(Array(6).fill(true))
})

test('simultaneous requests of equal baskets in two processes get the price of one answer', async () => {
  const shop = await useEngine()
  const other = await useEngine({ databaseUrl: shop.databaseUrl })
  const both = Promise.withResolvers<void>()
  const taxing =
    (ratePpm: number): TaxEngine['computeTaxes'] =>
    async ({ components }) => {
      if (shop.asked.length + other.asked.length === 2) both.resolve()
      await both.promise
      return components.map(({ amountMinor }) => ({
        ratePpm,
        taxMinor: Math.round((amountMinor * ratePpm) / 1_000_000)
      }))
    }
  shop.answer(taxing(100_000))
  other.answer(taxing(200_000))
  const body = { ...sent(shop.mug), shipping_address: STOCKHOLM }
  const [one, two, three] = await Promise.all([
    shop.buyer.post('/api/checkouts', body),
    shop.buyer.post('/api/checkouts', body),
    other.as(customer()).post('/api/checkouts', body)
  ])
  // The second request of the first process shares its call, or comes after it.
  expect(other.asked).toHaveLength(1)
  expect(new Set([one, two, three].map(({ json }) => json.quote_hash)).size).toBe(1)
})
