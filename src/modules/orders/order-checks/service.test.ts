import { expect, test } from 'vitest'
import { CHECKOUT_MODULES, codesOf, itemOf, STOCKHOLM } from '../../../../test/support/checkouts.ts'
import { heldByRequests, NOTHING_HELD } from '../../../../test/support/held.ts'
import { sent, useOrders } from '../../../../test/support/orders.ts'
import { moduleProviding } from '../../../../test/support/ports.ts'
import { openShared, shareShops } from '../../../../test/support/shared-shops.ts'
import { provide } from '../../../kernel/ports.ts'
import { customer } from '../../../testing.ts'
import { type OrderCheck, orderCheckPort, type PurchaseToCheck } from './port.ts'

shareShops()

const ALLOWED: OrderCheck = async () => []
const TOO_YOUNG = { code: 'AGE_TOO_YOUNG', message: 'This is sold to adults. Verify your age first.' }

/** The check of the test that runs. */
type CurrentCheck = { check: OrderCheck; seen: PurchaseToCheck[] }
const useCheckModule = () =>
  openShared(['order checks'], async () => {
    const current: CurrentCheck = { check: ALLOWED, seen: [] }
    const age: OrderCheck = async (purchase, signal) => {
      current.seen.push(purchase)
      return current.check(purchase, signal)
    }
    const providers = [provide(orderCheckPort, 'age', age), provide(orderCheckPort, 'nothing', ALLOWED)]
    return { current, module: moduleProviding(...providers) }
  })

/** A shop with one check, which a test replaces by `check`. */
async function useChecks() {
  const { current, module } = await useCheckModule()
  const shop = await useOrders({ modules: [...CHECKOUT_MODULES, module] })
  const seen: PurchaseToCheck[] = []
  Object.assign(current, { check: ALLOWED, seen })
  const caller = customer()
  return {
    ...shop,
    caller,
    buyer: shop.as(caller),
    seen,
    check: (check: OrderCheck) => {
      current.check = check
    }
  }
}

test('a check stops an order with its reason, and the same order is placed once the check allows it', async () => {
  const { check, buyer, mug, traces } = await useChecks()
  check(async ({ lines: [line] }) => [{ ...TOO_YOUNG, ...(line && { line: line.id }) }])
  const before = await traces()
  const headers = { 'idempotency-key': crypto.randomUUID() }
  const order = () => buyer.post('/api/orders', sent(mug), headers)
  const { status, json } = await order()
  expect([status, json.code]).toEqual([409, 'ORDER_NOT_ALLOWED'])
  expect(json.findings).toEqual([
    {
      code: 'ORDER_NOT_ALLOWED',
      message: TOO_YOUNG.message,
      blocking: true,
      check_code: 'AGE_TOO_YOUNG',
      item: expect.any(String),
      variant_id: mug
    }
  ])
  expect(await traces()).toEqual(before)
  check(ALLOWED)
  expect((await order()).status).toBe(201)
})

test('what a check refuses is a blocking finding of an open checkout, which cannot be completed', async () => {
  const { check, buyer, mug } = await useChecks()
  check(async () => [TOO_YOUNG])
  const { json: checkout } = await buyer.post('/api/checkouts', sent(mug))
  expect([checkout.ready, codesOf(checkout)]).toEqual([false, ['ORDER_NOT_ALLOWED']])
  const path = `/api/checkouts/${checkout.id}`
  expect((await buyer.get(path)).json.findings).toEqual(checkout.findings)
  expect((await buyer.put(path, sent(mug))).json.findings).toEqual(checkout.findings)
  const refused = await buyer.post(`${path}/complete`, {})
  expect([refused.status, refused.json.findings]).toEqual([409, checkout.findings])
  check(ALLOWED)
  expect(codesOf((await buyer.get(path)).json)).toEqual([])
  expect((await buyer.post(`${path}/complete`, {})).status).toBe(201)
  check(async () => [TOO_YOUNG])
  expect(codesOf((await buyer.get(path)).json)).toEqual([])
})

test('a check sees the buyer, lines, addresses, metadata and totals, and cannot change what is ordered', async () => {
  const { check, seen, buyer, caller, mug } = await useChecks()
  check(async purchase => {
    Object.assign(purchase.shippingAddress ?? {}, { city: 'Paris' })
    Object.assign(purchase.lines[0]?.metadata ?? {}, { engraving: 'Bob' })
    return []
  })
  const body = {
    items: [{ ...itemOf(mug, 2), metadata: { engraving: 'Ada' } }],
    shipping_address: STOCKHOLM,
    email: 'ada@example.com',
    metadata: { channel: 'app' }
  }
  const { json, text } = await buyer.post('/api/orders', body)
  expect(json.shipping_address, text).toEqual(STOCKHOLM)
  expect(json.items[0].metadata).toEqual({ engraving: 'Ada' })
  expect(seen).toHaveLength(1)
  expect(seen[0]).toMatchObject({
    buyer: { customerId: caller.id, email: 'ada@example.com' },
    lines: [{ variantId: mug, quantity: 2, totalMinor: 2_000 }],
    billingAddress: null,
    metadata: { channel: 'app' },
    market: 'default',
    currency: 'USD',
    totals: { totalMinor: json.total },
    quoteHash: expect.stringMatching(/^[0-9a-f]{64}$/)
  })
})

test('an order whose price changes while a check runs is rejected with the present price', async () => {
  const { check, buyer, mug, admin, traces } = await useChecks()
  check(async () => {
    expect((await admin.patch(`/api/catalog/variants/${mug}`, { price: 1_100 })).status).toBe(200)
    return []
  })
  const before = await traces()
  const { status, json } = await buyer.post('/api/orders', sent(mug))
  expect([status, json.code, json.quote.total]).toEqual([409, 'ORDER_PRICE_CHANGED', 1_590])
  expect(await traces()).toEqual(before)
})

test('a checkout or cart that changes while a check runs is not ordered', async () => {
  const { check, buyer, mug, traces } = await useChecks()
  const { json: checkout } = await buyer.post('/api/checkouts', sent(mug))
  const path = `/api/checkouts/${checkout.id}`
  const before = await traces()
  check(async () => {
    check(ALLOWED)
    const body = { ...sent(mug), metadata: { gift: 'yes' } }
    expect((await buyer.put(path, body)).status).toBe(200)
    return []
  })
  const late = await buyer.post(`${path}/complete`, {})
  expect([late.status, late.json.code]).toEqual([409, 'CHECKOUT_CHANGED'])

  await buyer.post('/api/cart', itemOf(mug))
  check(async () => {
    check(ALLOWED)
    expect((await buyer.post('/api/cart', itemOf(mug))).status).toBe(200)
    return []
  })
  const other = await buyer.post('/api/orders', { shipping_address: STOCKHOLM })
  expect([other.status, other.json.code]).toEqual([409, 'CART_CHANGED'])
  expect(await traces()).toEqual(before)
})

test('while a check hangs, its requests hold no slot, connection or lock; then the order is rejected with 503', async () => {
  const shop = await useChecks()
  const { check, buyer, mug, traces } = shop
  const { json: checkout } = await buyer.post('/api/checkouts', sent(mug))
  const before = await traces()
  const aborted: AbortSignal[] = []
  check((_, signal) => {
    aborted.push(signal)
    return new Promise(() => {})
  })
  const key = () => ({ 'idempotency-key': crypto.randomUUID() })
  const ordering = [
    buyer.post('/api/orders', sent(mug), key()),
    buyer.post(`/api/checkouts/${checkout.id}/complete`, {}, key()),
    shop.admin.post('/api/admin/orders', { ...sent(mug), email: 'bob@example.com' }, key())
  ]
  const reading = [
    buyer.get(`/api/checkouts/${checkout.id}`),
    buyer.post('/api/checkouts', sent(mug), key()),
    buyer.put(`/api/checkouts/${checkout.id}`, sent(mug), key())
  ]
  await expect.poll(() => aborted.length).toBe(6)
  let answered = 0
  for (const request of [...ordering, ...reading]) request.then(() => (answered += 1))
  await expect
    .poll(async () => ({ answered, ...(await heldByRequests(shop)) }))
    .toEqual({ answered: 0, ...NOTHING_HELD })
  for (const { status, json, headers } of await Promise.all(ordering))
    expect([status, json.code, json.checks, headers['retry-after']]).toEqual([
      503,
      'ORDER_CHECK_UNAVAILABLE',
      ['age'],
      '2'
    ])
  for (const { json, text } of await Promise.all(reading)) {
    expect([json.ready, codesOf(json)], text).toEqual([true, ['ORDER_CHECK_UNAVAILABLE']])
  }
  expect(aborted.every(signal => signal.aborted)).toBe(true)
  expect(await traces()).toEqual(before)
})

test.each([
  ['throws', () => Promise.reject(new Error('no')), 'no'],
  ['returns no list', async () => null, 'must return a list'],
  ['returns a code in small letters', async () => [{ ...TOO_YOUNG, code: 'young' }], 'has the code'],
  ['returns no message', async () => [{ code: 'AGE' }], 'needs a message'],
  ['names an unknown line', async () => [{ ...TOO_YOUNG, line: 'x' }], 'names the line']
])('an order is rejected with 503 when a check %s, and the log says why', async (_, faulty, reason) => {
  const { check, buyer, mug, traces, log } = await useChecks()
  const before = await traces()
  const logged = log.length
  check(faulty as unknown as OrderCheck)
  const { status, json } = await buyer.post('/api/orders', sent(mug))
  expect([status, json.code]).toEqual([503, 'ORDER_CHECK_UNAVAILABLE'])
  expect(log.slice(logged).find(line => line.includes('a check of an order failed'))).toContain(reason)
  expect(await traces()).toEqual(before)
})
