import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { customer } from '../../src/testing.ts'
import { itemOf, STOCKHOLM, useCheckouts } from '../support/checkouts.ts'
import { sent, TRANSFER, useOrders } from '../support/orders.ts'
import { faultsOf } from '../support/stock-ledger.ts'

const MANY = { CARTWRIGHT__ORDERS__PENDING_PER_ADDRESS: '1000' }

/** Two processes of one shop; `take` gives them in turn. */
async function useTwo(more: Record<string, string> = {}) {
  const settings = { ...MANY, ...more }
  const shop = await useOrders({ settings })
  const other = await useCheckouts({ databaseUrl: shop.databaseUrl, settings })
  const client = new pg.Client({ connectionString: shop.databaseUrl })
  await client.connect()
  onTestFinished(() => client.end())
  return {
    ...shop,
    processOf: (index: number) => (index % 2 === 0 ? shop : other),
    /** Reserved units once all releases are done. The ledger has no discrepancies. */
    settledBooks: async (variantId: string) => {
      expect(await faultsOf(client)).toEqual([])
      return shop.reserved(variantId)
    }
  }
}
/** Counts the responses by status and code. */
function counted(answers: readonly { status: number; json: { code?: string } }[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status, json } of answers) {
    const name = [status, ...(json.code === undefined ? [] : [json.code])].join(' ')
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

test('of 64 buyers of the last unit, half of them with a checkout, one gets it and 63 get INVENTORY_SHORT', async () => {
  const shop = await useTwo()
  await shop.stock(shop.mug, 1)
  const purchases = await Promise.all(
    Array.from({ length: 64 }, async (_, index) => {
      const buyer = shop.processOf(index).as(customer())
      if (index % 4 > 1) return () => buyer.post('/api/orders', sent(shop.mug))
      const { json } = await buyer.post('/api/checkouts', sent(shop.mug))
      return () => buyer.post(`/api/checkouts/${json.id}/complete`, {})
    })
  )
  const answers = await Promise.all(purchases.map(buy => buy()))
  expect(counted(answers)).toEqual({ 201: 1, '409 INVENTORY_SHORT': 63 })
  const won = answers.find(({ status }) => status === 201)
  expect(await shop.settledBooks(shop.mug)).toEqual([
    { order_id: won?.json.id, state: 'claimed', quantity: 1 }
  ])
  expect(await shop.traces()).toEqual([{ orders: 1, lines: 1, accounts: 1, redemptions: 0, reservations: 1 }])
})

test('a buyer limited to one pending order gets only one of four simultaneous orders in two processes', async () => {
  const shop = await useTwo({ CARTWRIGHT__ORDERS__PENDING_PER_BUYER: '1' })
  await shop.stock(shop.mug, 100)
  for (let round = 0; round < 10; round += 1) {
    const caller = customer()
    const answers = await Promise.all(
      [0, 1, 2, 3].map(index => shop.processOf(index).as(caller).post('/api/orders', sent(shop.mug)))
    )
    expect(counted(answers)).toEqual({ 201: 1, '409 ORDER_PENDING_LIMIT': 3 })
  }
})

test.each([
  ['one key', () => 'one-key'],
  ['a key each', (index: number) => `key-${index}`],
  ['no key', () => undefined]
])(
  '8 requests that order the same cart with %s make one order and one payment, and take the stock once',
  async (_, keyOf) => {
    const shop = await useTwo()
    await shop.stock(shop.mug, 100)
    const caller = await shop.withCart(itemOf(shop.mug, 3))
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_each, index) => {
        const key = keyOf(index)
        const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key }
        const body = { shipping_address: STOCKHOLM, payment: TRANSFER }
        return shop.processOf(index).as(caller).post('/api/orders', body, headers)
      })
    )
    const told = answers.filter(({ status }) => status < 300)
    expect(new Set(told.map(({ json }) => json.id)).size).toBe(1)
    // With one key, every request gets the response to the first one.
    const isOneKey = keyOf(0) !== undefined && keyOf(0) === keyOf(1)
    expect(told.filter(({ status }) => status === 201)).toHaveLength(isOneKey ? 8 : 1)
    // A late request finds the cart empty, and any other gets the order.
    const others = answers.filter(({ status }) => status >= 300)
    for (const { status, json } of others) expect([status, json.code]).toEqual([409, 'CART_EMPTY'])
    const [order] = await shop.orders()
    expect(await shop.orders()).toHaveLength(1)
    expect(await shop.sql('select order_id, amount::int from payments.payments')).toEqual([
      { order_id: order?.id, amount: 3_490 }
    ])
    expect(await shop.settledBooks(shop.mug)).toEqual([
      { order_id: order?.id, state: 'claimed', quantity: 3 }
    ])
  }
)

test('a cart that is changed while it is ordered is ordered unchanged, or not at all', async () => {
  const shop = await useTwo()
  const caller = await shop.withCart(itemOf(shop.mug, 1))
  const pot = await shop.sell()
  for (let round = 0; round < 8; round += 1) {
    const [ordered, added] = await Promise.all([
      shop
        .processOf(round)
        .as(caller)
        .post('/api/orders', { shipping_address: STOCKHOLM, payment: TRANSFER }),
      shop
        .processOf(round + 1)
        .as(caller)
        .post('/api/cart', itemOf(pot, 2))
    ])
    expect(added.status).toBe(200)
    const left = (await caller.buyer.get('/api/cart')).json.items.map(
      ({ variant_id }: { variant_id: string }) => variant_id
    )
    if (ordered.status === 201) {
      const bought = ordered.json.items.map(({ variant_id }: { variant_id: string }) => variant_id)
      expect([...bought, ...left].toSorted()).toEqual([shop.mug, pot].toSorted())
      await shop.pay(ordered.json.id)
    } else {
      expect(ordered.json.code).toBe('CART_CHANGED')
      expect(left.toSorted()).toEqual([shop.mug, pot].toSorted())
    }
    await caller.buyer.delete('/api/cart')
    await caller.buyer.post('/api/cart', itemOf(shop.mug, 1))
  }
})

test('a code limited to 3 uses discounts 3 of 24 simultaneous orders, and the others leave no rows', async () => {
  const shop = await useTwo()
  await shop.stock(shop.mug, 100)
  const promotion = await shop.made('promotions', {
    name: 'Ten off',
    class: 'order',
    effect: { type: 'percentage', percentage_ppm: 100_000 },
    needs_code: true,
    uses_max: 3
  })
  await shop.made(`promotions/${promotion.id}/codes`, { code: 'TEN' })
  const answers = await Promise.all(
    Array.from({ length: 24 }, (_, index) =>
      shop
        .processOf(index)
        .as(customer())
        .post('/api/orders', { ...sent(shop.mug), codes: ['TEN'] })
    )
  )
  const made = answers.filter(({ status }) => status === 201)
  expect(made).toHaveLength(3)
  for (const { json } of made) expect(json.discount_total).toBe(100)
  for (const { status, json } of answers.filter(each => each.status !== 201))
    expect([status, ['PRICING_USED_UP', 'ORDER_CODE_REFUSED'].includes(json.code)]).toEqual([409, true])
  expect(await shop.traces()).toEqual([{ orders: 3, lines: 3, accounts: 3, redemptions: 3, reservations: 3 }])
  expect(await shop.settledBooks(shop.mug)).toHaveLength(3)
})
