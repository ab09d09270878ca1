import { describe, expect, test } from 'vitest'
import { compileAnswer } from '../../../../test/support/answer-schema.ts'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import {
  type CartShop,
  quantitiesOf,
  storedCart,
  useCartShop
} from '../../../../test/support/use-cart-shop.ts'
import { newId } from '../../../kernel/ids.ts'
import { CartMergeResponse } from '../carts/schema.ts'

shareShops()

const mergeSchema = compileAnswer(CartMergeResponse)

const add = (shop: CartShop, token: string, variantId: string, quantity = 1) =>
  shop.request('POST', '/api/cart', { token, body: { variant_id: variantId, quantity } })
const merge = (shop: CartShop, token: string, body: unknown, headers = {}) =>
  shop.request('POST', '/api/cart/merge', { token, body, headers })
const cartOf = async (shop: CartShop, token: string) =>
  quantitiesOf((await shop.request('GET', '/api/cart', { token })).json)

/** Creates a guest cart with these lines, and returns its token. */
async function guestWith(shop: CartShop, lines: Record<string, number>): Promise<string> {
  let headers: Record<string, string> = {}
  for (const [variant_id, quantity] of Object.entries(lines)) {
    const { json } = await shop.request('POST', '/api/guest-cart', {
      headers,
      body: { variant_id, quantity }
    })
    headers = { 'x-guest-cart-token': json.guest_cart_token ?? headers['x-guest-cart-token'] }
  }
  return headers['x-guest-cart-token'] ?? ''
}
const guestReads = (shop: CartShop, token: string) =>
  shop.request('GET', '/api/guest-cart', { headers: { 'x-guest-cart-token': token } })

describe('merge strategies', () => {
  test.each([
    [undefined, 'sum', 7, 2],
    ['sum', 'sum', 7, 2],
    ['max', 'max', 5, 1],
    ['guest', 'guest', 2, 2],
    ['customer', 'customer', 5, 1]
  ] as const)(
    'a cart merge by the strategy %s gives the quantities of that strategy, in the response and in the cart',
    async (strategy, used, both, moved) => {
      const shop = await useCartShop()
      const customer = newId()
      const [mine, shared, theirs] = [shop.catalog.sell(), shop.catalog.sell(), shop.catalog.sell()]
      await add(shop, customer, mine, 1)
      await add(shop, customer, shared, 5)
      const guest = await guestWith(shop, { [theirs]: 3, [shared]: 2 })
      const { status, json, headers } = await merge(shop, customer, {
        guest_cart_token: guest,
        ...(strategy && { strategy })
      })
      expect(status).toBe(200)
      expect(mergeSchema(json)).toEqual([])
      expect(headers.etag).toBe('"3"')
      expect(json.merge).toEqual({ status: 'merged', strategy: used, moved, adjustments: [] })
      expect(quantitiesOf(json)).toEqual({ [mine]: 1, [shared]: both, [theirs]: 3 })
      expect(json.items.map((item: { variant_id: string }) => item.variant_id)).toEqual([
        mine,
        shared,
        theirs
      ])
      expect(await cartOf(shop, customer)).toEqual({ [mine]: 1, [shared]: both, [theirs]: 3 })
      expect((await guestReads(shop, guest)).status).toBe(404)
    }
  )
})

test("a merge puts the guest's cart lines after the customer's lines, in their order", async () => {
  const shop = await useCartShop()
  const customer = newId()
  const variants = Array.from({ length: 8 }, () => shop.catalog.sell()).sort(() => Math.random() - 0.5)
  await add(shop, customer, variants[0] ?? '')
  const items = variants.slice(1).map(variant_id => ({ variant_id, quantity: 1 }))
  const merged = await merge(shop, customer, { items })
  const read = await shop.request('GET', '/api/cart', { token: customer })
  const order = (json: { items: { variant_id: string }[] }) => json.items.map(item => item.variant_id)
  expect(order(merged.json)).toEqual(variants)
  expect(order(read.json)).toEqual(variants)
})

describe('items that a browser stored', () => {
  test('merged items of a browser are added up per variant, in any letter case of its id', async () => {
    const shop = await useCartShop()
    const customer = newId()
    const mug = shop.catalog.sell()
    const items = [mug, mug.toUpperCase(), mug].map(variant_id => ({ variant_id, quantity: 2 }))
    const { json } = await merge(shop, customer, { items })
    expect(quantitiesOf(json)).toEqual({ [mug]: 6 })
    expect(json.merge).toMatchObject({ status: 'merged', moved: 1, adjustments: [] })
  })

  test('merged items of a browser are merged again by each request, because they have no token', async () => {
    const shop = await useCartShop()
    const customer = newId()
    const mug = shop.catalog.sell()
    const items = [{ variant_id: mug, quantity: 2 }]
    await merge(shop, customer, { items })
    const { json } = await merge(shop, customer, { items })
    expect([json.merge.status, quantitiesOf(json)]).toEqual(['merged', { [mug]: 4 }])
    expect((await merge(shop, customer, { items, strategy: 'max' })).json.merge).toMatchObject({ moved: 0 })
  })

  test('unknown and withdrawn variants in a cart merge are reported, and the others are merged', async () => {
    const shop = await useCartShop()
    const customer = newId()
    const [mug, tee, unknown] = [shop.catalog.sell(), shop.catalog.sell(), newId()]
    shop.catalog.withdraw(tee)
    const items = [unknown, tee, mug].map(variant_id => ({ variant_id, quantity: 2 }))
    const { json } = await merge(shop, customer, { items })
    expect(json.merge.moved).toBe(1)
    expect(json.merge.adjustments).toEqual(
      [unknown, tee].map(variant_id => {
        return { variant_id, metadata: {}, requested: 2, granted: 0, reason: 'unavailable' }
      })
    )
    expect(json).toMatchObject({ count: 2, unavailable_items: [] })
  })

  test('merged cart quantities are reduced to the limits, and the reductions are reported', async () => {
    const shop = await useCartShop({
      CARTWRIGHT__CART__LINE_QUANTITY_MAX: '10',
      CARTWRIGHT__CART__LINES_MAX: '2'
    })
    const customer = newId()
    const [mug, tee, cap] = [shop.catalog.sell(), shop.catalog.sell(), shop.catalog.sell()]
    await add(shop, customer, mug, 8)
    const items = [mug, tee, cap].map(variant_id => ({ variant_id, quantity: 1_000_000 }))
    const { status, json } = await merge(shop, customer, { items })
    expect(status).toBe(200)
    expect(mergeSchema(json)).toEqual([])
    expect(quantitiesOf(json)).toEqual({ [mug]: 10, [tee]: 10 })
    expect(json.merge.adjustments).toEqual([
      { variant_id: mug, metadata: {}, requested: 1_000_008, granted: 10, reason: 'quantity_limit' },
      { variant_id: tee, metadata: {}, requested: 1_000_000, granted: 10, reason: 'quantity_limit' },
      { variant_id: cap, metadata: {}, requested: 1_000_000, granted: 0, reason: 'line_limit' }
    ])
  })

  test('two hundred merged items of one variant become one cart line', async () => {
    const shop = await useCartShop()
    const mug = shop.catalog.sell()
    const items = Array.from({ length: 200 }, () => ({ variant_id: mug, quantity: 1_000_000 }))
    const { status, json } = await merge(shop, newId(), { items })
    expect([status, quantitiesOf(json)]).toEqual([200, { [mug]: 99 }])
    expect(json.merge.adjustments).toMatchObject([{ requested: 200_000_000, granted: 99 }])
  })
})

test('a merge of an empty guest cart succeeds, and marks its token as merged', async () => {
  const shop = await useCartShop()
  const customer = newId()
  const mug = shop.catalog.sell()
  const token = await guestWith(shop, { [mug]: 1 })
  await shop.request('DELETE', '/api/guest-cart', { headers: { 'x-guest-cart-token': token } })
  const answers = [
    await merge(shop, customer, { items: [] }),
    await merge(shop, customer, { guest_cart_token: token }),
    await merge(shop, customer, { guest_cart_token: token })
  ]
  expect(answers.map(({ status, json }) => [status, json.merge.status, json.version])).toEqual([
    [200, 'nothing_to_merge', 0],
    [200, 'nothing_to_merge', 0],
    [200, 'already_merged', 0]
  ])
  expect((await guestReads(shop, token)).status).toBe(404)
})

test.each([
  ['neither', {}],
  ['both', { guest_cart_token: 'gct_x', items: [] }],
  ['an unknown strategy', { items: [], strategy: 'min' }],
  ['an unknown property', { items: [], force: true }],
  ['a quantity of zero', { items: [{ variant_id: newId(), quantity: 0 }] }],
  ['items that are none', { items: 'all' }],
  ['too many items', { items: Array(201).fill({ variant_id: newId(), quantity: 1 }) }],
  ['a token that is no text', { guest_cart_token: 1 }],
  ['a token that is too long', { guest_cart_token: 'g'.repeat(257) }],
  ['no object', []]
])('a malformed cart merge request is rejected: %s', async (_what, body) => {
  const shop = await useCartShop()
  const carts = () => shop.sql('select cart_id from cart.carts order by 1')
  const before = await carts()
  const { status, json } = await merge(shop, newId(), body)
  expect([status, json.code]).toEqual([400, 'VALIDATION_FAILED'])
  expect(await carts()).toEqual(before)
})

describe('a merged token', () => {
  test("a merged guest cart token merges nothing again, also after other changes of the customer's cart", async () => {
    const shop = await useCartShop()
    const customer = newId()
    const [mug, tee] = [shop.catalog.sell(), shop.catalog.sell()]
    const guest_cart_token = await guestWith(shop, { [mug]: 3 })
    await merge(shop, customer, { guest_cart_token })
    await shop.request('DELETE', `/api/cart/items/${mug}`, { token: customer })
    await add(shop, customer, tee, 1)
    const before = await storedCart(shop, customer)
    for (const strategy of ['sum', 'max', 'guest', 'customer']) {
      const { status, json } = await merge(shop, customer, { guest_cart_token, strategy })
      expect(status).toBe(200)
      expect(json.merge).toEqual({ status: 'already_merged', strategy, moved: 0, adjustments: [] })
      expect(quantitiesOf(json)).toEqual({ [tee]: 1 })
    }
    const stale = await merge(shop, customer, { guest_cart_token }, { 'if-match': '"1"' })
    expect([stale.status, stale.json.merge.status]).toEqual([200, 'already_merged'])
    expect(await storedCart(shop, customer)).toEqual(before)
  })

  test('a guest cart token gives no access to another customer who knows it, before or after the merge', async () => {
    const shop = await useCartShop()
    const [victim, planter] = [newId(), newId()]
    const [bait, mine] = [shop.catalog.sell(), shop.catalog.sell()]
    const guest_cart_token = await guestWith(shop, { [bait]: 1 })
    await add(shop, victim, mine, 2)
    await merge(shop, victim, { guest_cart_token })
    const before = await storedCart(shop, victim)
    const headers = { 'x-guest-cart-token': guest_cart_token }
    const line = { variant_id: bait, quantity: 50 }
    const answers = [
      await shop.request('GET', '/api/guest-cart', { headers }),
      await shop.request('GET', '/api/guest-cart/count', { headers }),
      await shop.request('POST', '/api/guest-cart', { headers, body: line }),
      await shop.request('DELETE', '/api/guest-cart', { headers }),
      await merge(shop, planter, { guest_cart_token })
    ]
    for (const answer of answers) {
      expect(answer.status).toBe(404)
      expect(answer.text).not.toContain(mine)
    }
    expect(await storedCart(shop, victim)).toEqual(before)
    expect(await cartOf(shop, planter)).toEqual({})
  })
})

describe('concurrent merges', () => {
  test('one customer merges one guest cart token 20 times: one response is merged, 19 are already_merged', async () => {
    const shop = await useCartShop()
    const customer = newId()
    const mug = shop.catalog.sell()
    await add(shop, customer, mug, 1)
    const guest_cart_token = await guestWith(shop, { [mug]: 3 })
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => merge(shop, customer, { guest_cart_token }))
    )
    expect(answers.map(answer => answer.status)).toEqual(Array(20).fill(200))
    const statuses = answers.map(answer => answer.json.merge.status).sort()
    expect(statuses).toEqual([...Array(19).fill('already_merged'), 'merged'])
    for (const { json } of answers) expect(quantitiesOf(json)).toEqual({ [mug]: 4 })
    expect(await cartOf(shop, customer)).toEqual({ [mug]: 4 })
  })

  test('two customers merge one guest cart token simultaneously: exactly one succeeds', async () => {
    const shop = await useCartShop()
    const mug = shop.catalog.sell()
    for (let round = 0; round < 25; round += 1) {
      const customers = [newId(), newId()]
      const guest_cart_token = await guestWith(shop, { [mug]: 3 })
      const answers = await Promise.all(
        customers.map(customer => merge(shop, customer, { guest_cart_token }))
      )
      expect(answers.map(answer => answer.status).sort()).toEqual([200, 404])
      const carts = await Promise.all(customers.map(customer => cartOf(shop, customer)))
      expect(carts).toEqual(answers.map(answer => (answer.status === 200 ? { [mug]: 3 } : {})))
    }
  })

  test("a guest's addition during the cart merge is in the customer's cart, or is rejected", async () => {
    const shop = await useCartShop()
    const mug = shop.catalog.sell()
    for (let round = 0; round < 60; round += 1) {
      const customer = newId()
      const token = await guestWith(shop, { [mug]: 1 })
      const headers = { 'x-guest-cart-token': token }
      const body = { variant_id: mug, quantity: 1 }
      const addition = () => shop.request('POST', '/api/guest-cart', { headers, body })
      const merging = () => merge(shop, customer, { guest_cart_token: token })
      const [added, merged] =
        round % 2 === 0
          ? await Promise.all([addition(), merging()])
          : (await Promise.all([merging(), addition()])).toReversed()
      expect(merged?.status).toBe(200)
      expect([200, 404]).toContain(added?.status)
      expect(await cartOf(shop, customer)).toEqual({ [mug]: added?.status === 200 ? 2 : 1 })
    }
  })

  test('two guest carts merge into a cart that changes simultaneously: the sum is exact', async () => {
    const shop = await useCartShop()
    const mug = shop.catalog.sell()
    for (let round = 0; round < 20; round += 1) {
      const customer = newId()
      const [one, other] = [await guestWith(shop, { [mug]: 2 }), await guestWith(shop, { [mug]: 3 })]
      const answers = await Promise.all([
        merge(shop, customer, { guest_cart_token: one }),
        add(shop, customer, mug, 1),
        merge(shop, customer, { guest_cart_token: other }),
        add(shop, customer, mug, 1)
      ])
      expect(answers.map(answer => answer.status)).toEqual([200, 200, 200, 200])
      expect(await cartOf(shop, customer)).toEqual({ [mug]: 7 })
    }
  })
})
