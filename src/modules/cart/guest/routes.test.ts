import { createHash, randomBytes } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import { compileAnswer } from '../../../../test/support/answer-schema.ts'
import { createTestApp } from '../../../../test/support/app.ts'
import { needsOwnShop, shareShops } from '../../../../test/support/shared-shops.ts'
import {
  type CartShop,
  quantitiesOf,
  storedCart,
  useCartShop
} from '../../../../test/support/use-cart-shop.ts'
import { newId } from '../../../kernel/ids.ts'
import { GuestCartResponse } from '../carts/schema.ts'

shareShops()

const guestSchema = compileAnswer(GuestCartResponse)
const withToken = (token: string) => ({ 'x-guest-cart-token': token })
const create = (shop: CartShop, variantId: string, quantity = 1) =>
  shop.request('POST', '/api/guest-cart', { body: { variant_id: variantId, quantity } })

test("a guest's first addition creates a cart and returns its token once", async () => {
  const shop = await useCartShop()
  const mug = shop.catalog.sell()
  const created = await create(shop, mug, 2)
  expect(created.status).toBe(201)
  expect(guestSchema(created.json)).toEqual([])
  const token = created.json.guest_cart_token as string
  expect(token).toMatch(/^gct_[\w-]{43}$/)
  const headers = withToken(token)
  const later = [
    await shop.request('GET', '/api/guest-cart', { headers }),
    await shop.request('POST', '/api/guest-cart', { headers, body: { variant_id: mug, quantity: 1 } }),
    await shop.request('PUT', `/api/guest-cart/items/${mug}`, { headers, body: { quantity: 9 } }),
    await shop.request('DELETE', '/api/guest-cart', { headers })
  ]
  for (const answer of later) {
    expect(answer.status).toBe(200)
    expect(guestSchema(answer.json)).toEqual([])
    expect(answer.text).not.toContain(token)
  }
  expect(later.map(answer => answer.json.count)).toEqual([2, 3, 9, 0])
  expect(later.map(answer => answer.headers.etag)).toEqual(['"1"', '"2"', '"3"', '"4"'])
})

test('a guest can use all operations of a cart', async () => {
  const shop = await useCartShop()
  const [mug, tee] = [shop.catalog.sell(), shop.catalog.sell()]
  const { json } = await create(shop, mug, 2)
  const headers = withToken(json.guest_cart_token)
  await shop.request('POST', '/api/guest-cart', { headers, body: { variant_id: tee, quantity: 1 } })
  await shop.request('DELETE', `/api/guest-cart/items/${mug}`, { headers })
  const read = await shop.request('GET', '/api/guest-cart', { headers })
  expect(read.json).toMatchObject({ customer_id: null, version: 3 })
  expect(quantitiesOf(read.json)).toEqual({ [tee]: 1 })
  const count = await shop.request('GET', '/api/guest-cart/count', { headers })
  expect(count.json).toEqual({ count: 1, distinct_count: 1 })
  const stale = { ...headers, 'if-match': '"2"' }
  const refused = await shop.request('DELETE', '/api/guest-cart', { headers: stale })
  expect([refused.status, refused.json.code]).toEqual([412, 'CART_VERSION_STALE'])
})

test("a guest's first addition takes one statement, and three with an idempotency key", async () => {
  const shop = await useCartShop()
  const body = { variant_id: shop.catalog.sell(), quantity: 1 }
  const first = await shop.record(() => shop.request('POST', '/api/guest-cart', { body }))
  expect(first.statements).toEqual(['cart.insert_guest_carts'])
  const headers = { 'idempotency-key': newId() }
  const addOnce = () => shop.record(() => shop.request('POST', '/api/guest-cart', { body, headers }))
  const keyed = await addOnce()
  expect(keyed.statements.toSorted()).toEqual([
    ...['cart.insert_guest_carts', 'idempotency.insert_keys', 'idempotency.mark_key_applied']
  ])
  // The token is secret, so the response is not stored but computed again.
  expect((await addOnce()).result.json).toEqual(keyed.result.json)
})

test('simultaneous first and later additions of many guests are written in shared statements', async () => {
  const shop = await useCartShop()
  const mug = shop.catalog.sell()
  const quantities = Array.from({ length: 40 }, (_, index) => index + 1)
  const created = await shop.record(() =>
    Promise.all(quantities.map(quantity => create(shop, mug, quantity)))
  )
  expect(new Set(created.statements)).toEqual(new Set(['cart.insert_guest_carts']))
  expect(created.statements.length).toBeLessThan(20)
  const added = await shop.record(() =>
    Promise.all(
      created.result.map(({ json }) =>
        shop.request('POST', '/api/guest-cart', {
          headers: withToken(json.guest_cart_token),
          body: { variant_id: mug, quantity: 1 }
        })
      )
    )
  )
  expect(added.result.map(({ json }) => json.count)).toEqual(quantities.map(quantity => quantity + 1))
  const reads = added.statements.filter(name => name === 'cart.find_guest_cart')
  const writes = added.statements.filter(name => name === 'cart.save_unchanged_carts')
  expect(reads).toHaveLength(40)
  expect(added.statements).toHaveLength(40 + writes.length)
  expect(writes.length).toBeLessThan(20)
})

test("a guest's first addition that is rejected creates no cart", async () => {
  needsOwnShop()
  const shop = await useCartShop()
  expect((await create(shop, newId())).status).toBe(404)
  expect((await create(shop, shop.catalog.sell(), 100)).status).toBe(409)
  expect(await shop.sql('select 1 from cart.carts')).toEqual([])
  expect(await shop.sql('select 1 from cart.guest_carts')).toEqual([])
})

test('the token of a guest cart is in no log line and no table', async () => {
  needsOwnShop()
  const shop = await useCartShop()
  const mug = shop.catalog.sell()
  const { json } = await create(shop, mug)
  const token = json.guest_cart_token as string
  const headers = withToken(token)
  await shop.request('GET', '/api/guest-cart', { headers })
  await shop.request('PUT', `/api/guest-cart/items/${mug}`, { headers, body: { quantity: 100 } })
  await shop.request('POST', '/api/guest-cart', { headers, body: '{"variant_id":' })
  await shop.request('POST', '/api/cart/merge', { token: newId(), body: { guest_cart_token: token } })
  await shop.request('POST', '/api/cart/merge', { token: newId(), body: { guest_cart_token: token } })
  await shop.request('GET', '/api/guest-cart', { headers })
  // An unexpected failure is logged with all its details.
  await shop.sql('alter table cart.guest_carts rename to guest_carts_away')
  expect((await shop.request('GET', '/api/guest-cart', { headers })).status).toBe(500)
  await shop.sql('alter table cart.guest_carts_away rename to guest_carts')

  const secret = token.slice('gct_'.length)
  expect(shop.log.length).toBeGreaterThan(7)
  expect(shop.log.join('')).toContain('unexpected error')
  expect(shop.log.join('')).not.toContain(secret)
  const rows = await shop.sql(
    `select g::text as row from cart.guest_carts g union all select c::text from cart.carts c`
  )
  expect(JSON.stringify(rows)).not.toContain(secret)
  expect(JSON.stringify(rows)).toContain(createHash('sha256').update(token).digest('hex'))
})

describe('an invalid token', () => {
  const NOWHERE = {
    type: 'about:blank',
    title: 'Not Found',
    status: 404,
    code: 'CART_GUEST_NOT_FOUND',
    detail:
      'No guest cart has this token: it is unknown, expired, or merged. Add an item without a token to create a cart.'
  }

  /** One token of each invalid kind, and an open cart that must not change. */
  async function lostTokens() {
    const shop = await useCartShop()
    const mug = shop.catalog.sell()
    const token = async () => (await create(shop, mug, 2)).json.guest_cart_token as string
    const [used, expired, open] = [await token(), await token(), await token()]
    await shop.request('POST', '/api/cart/merge', { token: newId(), body: { guest_cart_token: used } })
    await shop.sql(
      `update cart.carts set expires_at = now() where cart_id =
         (select cart_id from cart.guest_carts where token_hash = sha256(convert_to($1, 'UTF8')))`,
      [expired]
    )
    const tokens = {
      guessed: `gct_${randomBytes(32).toString('base64url')}`,
      malformed: 'gct_x',
      empty: '',
      'with a space': `${open} ${open}`,
      'in another case': open.toUpperCase(),
      'cut short': open.slice(0, -1),
      'sent twice': `${open}, ${open}`,
      used,
      expired
    }
    return { shop, mug, tokens }
  }

  test('an invalid guest cart token returns the same 404 in every route, and changes nothing', async () => {
    const { shop, mug, tokens } = await lostTokens()
    const everything = () =>
      shop.sql(`select c::text as row from cart.carts c union all select i::text from cart.items i
                union all select g::text from cart.guest_carts g order by row`)
    const before = await everything()
    for (const token of Object.values(tokens)) {
      const headers = withToken(token)
      const line = { variant_id: mug, quantity: 1 }
      const answers = [
        await shop.request('GET', '/api/guest-cart', { headers }),
        await shop.request('GET', '/api/guest-cart/count', { headers }),
        await shop.request('POST', '/api/guest-cart', { headers, body: line }),
        await shop.request('PUT', `/api/guest-cart/items/${mug}`, { headers, body: { quantity: 1 } }),
        await shop.request('DELETE', `/api/guest-cart/items/${mug}`, { headers }),
        await shop.request('DELETE', '/api/guest-cart', { headers }),
        await shop.request('POST', '/api/cart/merge', { token: newId(), body: { guest_cart_token: token } })
      ]
      for (const { status, json, headers: answered } of answers) {
        const { request_id, ...body } = json
        expect(request_id).toBe(answered['x-request-id'])
        expect([status, body]).toEqual([404, NOWHERE])
      }
    }
    expect(await everything()).toEqual(before)
  })

  test('where a guest cart token is required, a missing one gets the same 404 as an invalid one', async () => {
    const { shop, mug } = await lostTokens()
    const requests = [
      shop.request('GET', '/api/guest-cart'),
      shop.request('GET', '/api/guest-cart/count'),
      shop.request('PUT', `/api/guest-cart/items/${mug}`, { body: { quantity: 1 } }),
      shop.request('DELETE', `/api/guest-cart/items/${mug}`),
      shop.request('DELETE', '/api/guest-cart')
    ]
    for (const { status, json } of await Promise.all(requests)) {
      const { request_id: _, ...body } = json
      expect([status, body]).toEqual([404, NOWHERE])
    }
  })
})

test('neither the id of a guest cart nor the hash of its token gives access', async () => {
  needsOwnShop()
  const shop = await useCartShop()
  await create(shop, shop.catalog.sell())
  const rows = await shop.sql(`select cart_id, encode(token_hash, 'base64') as hash from cart.guest_carts`)
  const cartId = String(rows[0]?.cart_id)
  const hash = Buffer.from(String(rows[0]?.hash), 'base64').toString('base64url')
  const before = await storedCart(shop, cartId)
  for (const token of [cartId, hash, `gct_${hash}`]) {
    const headers = withToken(token)
    expect((await shop.request('GET', '/api/guest-cart', { headers })).status).toBe(404)
    expect((await shop.request('DELETE', '/api/guest-cart', { headers })).status).toBe(404)
  }
  expect(await storedCart(shop, cartId)).toEqual(before)
})

describe('expiry of guest carts', () => {
  const secondsLeft = async (shop: CartShop) => {
    const [row] = await shop.sql(
      'select extract(epoch from expires_at - now())::float8 as seconds from cart.carts'
    )
    return row?.seconds as number
  }
  const DAY = 86_400

  test('a guest cart expires after a day, and after the full idle time from its second change on', async () => {
    needsOwnShop()
    const shop = await useCartShop()
    const mug = shop.catalog.sell()
    const body = { variant_id: mug, quantity: 1 }
    const { json } = await shop.request('POST', '/api/guest-cart', { body })
    const headers = { 'x-guest-cart-token': json.guest_cart_token }
    expect(await secondsLeft(shop)).toBeLessThan(1.1 * DAY)
    await shop.request('GET', '/api/guest-cart', { headers })
    expect(await secondsLeft(shop)).toBeLessThan(1.1 * DAY)
    await shop.request('POST', '/api/guest-cart', { headers, body })
    expect(await secondsLeft(shop)).toBeGreaterThan(29.9 * DAY)
  })

  test('a guest cart that is read an hour after its creation expires after the full idle time', async () => {
    needsOwnShop()
    const shop = await useCartShop()
    const body = { variant_id: shop.catalog.sell(), quantity: 1 }
    const { json } = await shop.request('POST', '/api/guest-cart', { body })
    await shop.sql(`update cart.guest_carts set created_at = now() - interval '2 hours'`)
    await shop.sql(`update cart.carts set expires_at = now() + interval '22 hours'`)
    const headers = { 'x-guest-cart-token': json.guest_cart_token }
    const { json: seen } = await shop.request('GET', '/api/guest-cart', { headers })
    expect(seen).toMatchObject({ count: 1, version: 1 })
    expect(await secondsLeft(shop)).toBeGreaterThan(29.9 * DAY)
  })
})

test('new guest carts are limited per address, and additions to existing ones are not', async () => {
  const app = await createTestApp({
    CARTWRIGHT__RATE_LIMIT__ENABLED: 'true',
    CARTWRIGHT__CART__GUEST_CARTS_PER_MINUTE: '3'
  })
  onTestFinished(() => app.close())
  const body = { variant_id: newId(), quantity: 1 }
  const statuses = []
  for (let sent = 0; sent < 5; sent += 1)
    statuses.push((await app.request('POST', '/api/guest-cart', { body })).status)
  expect(statuses).toEqual([404, 404, 404, 429, 429])
  const headers = { 'x-guest-cart-token': `gct_${'x'.repeat(43)}` }
  expect((await app.request('POST', '/api/guest-cart', { headers, body })).status).toBe(404)
})
