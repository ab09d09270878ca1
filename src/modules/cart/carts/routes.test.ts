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
import { CartCountResponse, CartResponse } from './schema.ts'

shareShops()

const cartSchema = compileAnswer(CartResponse)
const countSchema = compileAnswer(CartCountResponse)

const add = (shop: CartShop, token: string, variantId: string, quantity = 1, headers = {}) =>
  shop.request('POST', '/api/cart', { token, headers, body: { variant_id: variantId, quantity } })
const set = (shop: CartShop, token: string, variantId: string, quantity: number, headers = {}) =>
  shop.request('PUT', `/api/cart/items/${variantId}`, { token, headers, body: { quantity } })
const remove = (shop: CartShop, token: string, variantId: string, headers = {}) =>
  shop.request('DELETE', `/api/cart/items/${variantId}`, { token, headers })

describe('reading', () => {
  test('a customer without a stored cart reads an empty one', async () => {
    const shop = await useCartShop()
    const token = newId()
    const { status, json, headers } = await shop.request('GET', '/api/cart', { token })
    expect([status, headers.etag]).toEqual([200, '"0"'])
    expect(json).toEqual({
      customer_id: token,
      currency: 'USD',
      items: [],
      count: 0,
      distinct_count: 0,
      subtotal: 0,
      discount_total: 0,
      total: 0,
      unavailable_items: [],
      version: 0,
      updated_at: null,
      metadata: {}
    })
    const count = await shop.request('GET', '/api/cart/count', { token })
    expect(count.json).toEqual({ count: 0, distinct_count: 0 })
  })

  test('a cart has the fields of the specification, and totals', async () => {
    const shop = await useCartShop()
    const token = newId()
    const mug = shop.catalog.sell({ name: 'Mug "Ω"', price: 1_250, discountedPrice: 1_000 })
    const tee = shop.catalog.sell({ name: 'Tee', price: 2_000 })
    await add(shop, token, mug, 2)
    await add(shop, token, tee, 1)
    const { json, headers } = await shop.request('GET', '/api/cart', { token })
    expect(cartSchema(json)).toEqual([])
    expect(headers.etag).toBe(`"${json.version}"`)
    expect(json).toMatchObject({
      count: 3,
      distinct_count: 2,
      subtotal: 4_500,
      discount_total: 500,
      total: 4_000
    })
    expect(json.items[0]).toMatchObject({
      variant_id: mug,
      name: 'Mug "Ω"',
      price: 1_250,
      discounted_price: 1_000,
      variant_name: 'blue',
      image_url: null,
      stock: null,
      available: true,
      attributes: { color: 'blue' },
      quantity: 2,
      line_total: 2_000
    })
    const count = await shop.request('GET', '/api/cart/count', { token })
    expect(countSchema(count.json)).toEqual([])
    expect(count.json).toEqual({ count: 3, distinct_count: 2 })
  })

  test('HEAD of a cart returns the headers of GET', async () => {
    const shop = await useCartShop()
    const answer = await shop.request('HEAD', '/api/cart', { token: newId() })
    expect([answer.status, answer.headers.etag, answer.text]).toEqual([200, '"0"', ''])
  })
})

describe('changing', () => {
  test('items of a cart are added, increased, updated and removed, and the cart is emptied', async () => {
    const shop = await useCartShop()
    const token = newId()
    const [mug, tee] = [shop.catalog.sell(), shop.catalog.sell()]
    const seen: unknown[] = []
    const see = ({ status, json, headers }: Awaited<ReturnType<CartShop['request']>>) => {
      expect(cartSchema(json)).toEqual([])
      expect(headers.etag).toBe(`"${json.version}"`)
      seen.push([status, json.version, quantitiesOf(json)])
    }
    see(await add(shop, token, mug, 2))
    see(await add(shop, token, mug, 3))
    see(await add(shop, token, tee, 1))
    see(await set(shop, token, mug, 1))
    see(await remove(shop, token, tee))
    see(await remove(shop, token, tee))
    see(await shop.request('DELETE', '/api/cart', { token }))
    see(await shop.request('DELETE', '/api/cart', { token }))
    expect(seen).toEqual([
      [200, 1, { [mug]: 2 }],
      [200, 2, { [mug]: 5 }],
      [200, 3, { [mug]: 5, [tee]: 1 }],
      [200, 4, { [mug]: 1, [tee]: 1 }],
      [200, 5, { [mug]: 1 }],
      [200, 5, { [mug]: 1 }],
      [200, 6, {}],
      [200, 6, {}]
    ])
  })

  test('cart lines keep the order in which they were added', async () => {
    const shop = await useCartShop()
    const token = newId()
    const variants = Array.from({ length: 12 }, () => shop.catalog.sell()).sort(() => Math.random() - 0.5)
    for (const variant of variants) await add(shop, token, variant, 2)
    await set(shop, token, variants[3] ?? '', 7)
    const added = await add(shop, token, variants[0] ?? '', 1)
    const read = await shop.request('GET', '/api/cart', { token })
    const order = read.json.items.map((item: { variant_id: string }) => item.variant_id)
    expect(order).toEqual(variants)
    expect(added.json.items).toEqual(read.json.items)
  })

  test('an upper-case UUID in a cart request identifies the same variant', async () => {
    const shop = await useCartShop()
    const token = newId()
    const mug = shop.catalog.sell()
    await add(shop, token, mug.toUpperCase(), 2)
    await add(shop, token, mug, 1)
    const { json } = await set(shop, token, mug.toUpperCase(), 5)
    expect(quantitiesOf(json)).toEqual({ [mug]: 5 })
    expect((await remove(shop, token, mug.toUpperCase())).json.items).toEqual([])
  })
})

describe('a rejected write changes nothing', () => {
  /** A cart with 3 mugs, and a check that a request was rejected and did not change the cart. */
  async function filledCart() {
    const shop = await useCartShop({
      CARTWRIGHT__CART__LINE_QUANTITY_MAX: '10',
      CARTWRIGHT__CART__LINES_MAX: '2'
    })
    const token = newId()
    const [mug, tee] = [shop.catalog.sell(), shop.catalog.sell()]
    await add(shop, token, mug, 3)
    const before = await storedCart(shop, token)
    const refuses = async (
      sent: ReturnType<CartShop['request']>,
      status: number,
      expected: Record<string, unknown>
    ) => {
      const answer = await sent
      expect([answer.status, answer.json]).toMatchObject([status, expected])
      expect(answer.headers['content-type']).toContain('application/problem+json')
      expect(await storedCart(shop, token)).toEqual(before)
    }
    return { shop, token, mug, tee, refuses }
  }

  test('unknown and withdrawn variants cannot be added to a cart, and the cart stays unchanged', async () => {
    const { shop, token, mug, tee, refuses } = await filledCart()
    await refuses(add(shop, token, newId()), 404, { code: 'CATALOG_VARIANT_NOT_FOUND' })
    shop.catalog.withdraw(tee)
    await refuses(add(shop, token, tee), 409, { code: 'CART_VARIANT_UNAVAILABLE' })
    shop.catalog.withdraw(mug)
    await refuses(add(shop, token, mug), 409, { code: 'CART_VARIANT_UNAVAILABLE' })
    await refuses(set(shop, token, mug, 1), 409, { code: 'CART_VARIANT_UNAVAILABLE' })
  })

  test('a cart request above the quantity limit of a line is rejected and changes nothing', async () => {
    const { shop, token, mug, tee, refuses } = await filledCart()
    await refuses(add(shop, token, mug, 8), 409, { code: 'CART_QUANTITY_LIMIT', limit: 10 })
    await refuses(add(shop, token, tee, 11), 409, { code: 'CART_QUANTITY_LIMIT', limit: 10 })
    await refuses(set(shop, token, mug, 11), 409, { code: 'CART_QUANTITY_LIMIT', limit: 10 })
  })

  test('a new cart line above the maximum number of lines is rejected and changes nothing', async () => {
    const { shop, token, tee } = await filledCart()
    await add(shop, token, tee)
    const before = await storedCart(shop, token)
    const answer = await add(shop, token, shop.catalog.sell())
    expect([answer.status, answer.json]).toMatchObject([409, { code: 'CART_LINE_LIMIT', limit: 2 }])
    expect(await storedCart(shop, token)).toEqual(before)
  })

  test('an update of an item that is not in the cart is rejected and changes nothing', async () => {
    const { shop, token, tee, refuses } = await filledCart()
    await refuses(set(shop, token, tee, 1), 404, { code: 'CART_ITEM_NOT_FOUND' })
    await refuses(set(shop, token, newId(), 1), 404, { code: 'CART_ITEM_NOT_FOUND' })
  })

  test.each([
    ['no body', undefined],
    ['no quantity', {}],
    ['zero', { quantity: 0 }],
    ['a negative quantity', { quantity: -1 }],
    ['a fraction', { quantity: 1.5 }],
    ['2^53', { quantity: 2 ** 53 }],
    ['text', { quantity: '1' }],
    ['null', { quantity: null }],
    ['an unknown property', { quantity: 1, price: 0 }]
  ])('a malformed cart request changes nothing: %s', async (_what, part) => {
    const { shop, token, mug, refuses } = await filledCart()
    const bad = { code: 'VALIDATION_FAILED' }
    const body = part && { variant_id: mug, ...part }
    await refuses(shop.request('POST', '/api/cart', { token, body }), 400, bad)
    await refuses(shop.request('PUT', `/api/cart/items/${mug}`, { token, body: part }), 400, bad)
  })

  test.each(['x', '', '1', `{${newId()}}`, `urn:uuid:${newId()}`, `${newId()} `, `${newId()}\n`])(
    'a cart request with the malformed variant id %j changes nothing',
    async variantId => {
      const { shop, token, refuses } = await filledCart()
      await refuses(add(shop, token, variantId), 400, { code: 'VALIDATION_FAILED' })
      const inPath = encodeURIComponent(variantId)
      if (inPath === '') return
      await refuses(set(shop, token, inPath, 1), 400, { code: 'VALIDATION_FAILED' })
      await refuses(remove(shop, token, inPath), 400, { code: 'VALIDATION_FAILED' })
    }
  )
})

describe('If-Match', () => {
  test('a cart write with the present version in If-Match succeeds, and one with an older version is rejected', async () => {
    const shop = await useCartShop()
    const token = newId()
    const mug = shop.catalog.sell()
    const first = await add(shop, token, mug, 1, { 'if-match': '"0"' })
    expect(first.status).toBe(200)
    const etag = String(first.headers.etag)
    expect((await add(shop, token, mug, 1, { 'if-match': etag })).status).toBe(200)

    const before = await storedCart(shop, token)
    const { status, json } = await set(shop, token, mug, 9, { 'if-match': etag })
    expect([status, json]).toMatchObject([412, { code: 'CART_VERSION_STALE', version: 2 }])
    expect(await storedCart(shop, token)).toEqual(before)
  })

  test('a cart write with If-Match: * succeeds at any version', async () => {
    const shop = await useCartShop()
    const token = newId()
    const mug = shop.catalog.sell()
    expect((await add(shop, token, mug, 1, { 'if-match': '*' })).status).toBe(200)
    expect((await set(shop, token, mug, 4, { 'if-match': '*' })).json.count).toBe(4)
  })

  test('of 20 concurrent cart writes with one version, one succeeds', async () => {
    const shop = await useCartShop()
    const token = newId()
    const mug = shop.catalog.sell()
    await add(shop, token, mug, 1)
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => add(shop, token, mug, 1, { 'if-match': '"1"' }))
    )
    expect(answers.map(answer => answer.status).sort()).toEqual([200, ...Array(19).fill(412)])
    expect((await shop.request('GET', '/api/cart', { token })).json).toMatchObject({ count: 2, version: 2 })
  })
})
