import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createTestApp, type TestApp } from './support/app.ts'
import { eventually } from './support/eventually.ts'

const ADMIN = { email: 'boss@example.com', password: 'nine lives and a piano' }

let app: TestApp
let admin: string
let variantId: string
beforeAll(async () => {
  app = await createTestApp({
    CARTWRIGHT_ADMIN_EMAIL: ADMIN.email,
    CARTWRIGHT_ADMIN_PASSWORD: ADMIN.password
  })
  admin = (await app.request('POST', '/api/auth/login', { body: ADMIN })).json.access_token
  const market = {
    code: 'eu',
    name: 'Euro area',
    countries: ['DE', 'FR'],
    currency: 'EUR',
    prices_include_tax: true,
    locale: 'de'
  }
  const created = await app.request('POST', '/api/admin/markets', { token: admin, body: market })
  expect(created.status, created.text).toBe(201)
  const body = { name: 'Mug', variants: [{ sku: 'MUG', price: 1_250 }] }
  variantId = (await app.request('POST', '/api/catalog/products', { token: admin, body })).json.variants[0].id
})
afterAll(() => app.close())

const lineOf = () => ({ variant_id: variantId, quantity: 2 })
const inEuro = { headers: { 'x-market': 'eu' } }

test('a cart is priced in the market that a request names, by a header or a query parameter', async () => {
  const { json: guest } = await app.request('POST', '/api/guest-cart', { body: lineOf() })
  const token = { 'x-guest-cart-token': guest.guest_cart_token as string }
  const read = (path = '', headers = {}) =>
    app.request('GET', `/api/guest-cart${path}`, { headers: { ...token, ...headers } })
  expect((await read()).json).toMatchObject({ currency: 'USD', total: 2_500 })
  expect((await read('?market=default')).json).toMatchObject({ currency: 'USD', total: 2_500 })
  for (const { json } of [await read('', inEuro.headers), await read('?market=eu')]) {
    expect(json).toMatchObject({ currency: 'EUR', total: 0, items: [], count: 2 })
    expect(json.unavailable_items).toMatchObject([{ variant_id: variantId, name: 'Mug' }])
  }
})

test('a variant without a price in a market cannot be added to a cart there, nor merged into one', async () => {
  for (const path of ['/api/guest-cart', '/api/cart']) {
    const refused = await app.request('POST', path, { token: admin, body: lineOf(), ...inEuro })
    expect([refused.status, refused.json.code]).toEqual([409, 'CART_VARIANT_UNAVAILABLE'])
  }
  const merged = await app.request('POST', '/api/cart/merge?market=eu', {
    token: admin,
    body: { items: [lineOf()] }
  })
  expect(merged.json).toMatchObject({ currency: 'EUR', items: [], merge: { moved: 0 } })
})

test('a product list in a market has its prices by quantity, and only the sale prices and discounts valid there', async () => {
  const as = (method: string, path: string, body: unknown) =>
    app.request(method, path, { token: admin, body })
  const listed = async (currency: string, prices: object[]) => {
    const { json } = await as('POST', '/api/admin/price-lists', { name: currency, currency })
    expect((await as('PUT', `/api/admin/price-lists/${json.id}/prices`, { prices })).status).toBe(204)
    return json.id as string
  }
  const market = async (code: string, currency: string, prices: object[]) => {
    const fields = { code, name: code, countries: [], prices_include_tax: false, locale: 'en' }
    const price_list_id = await listed(currency, prices)
    const { status, text } = await as('POST', '/api/admin/markets', { ...fields, currency, price_list_id })
    expect(status, text).toBe(201)
  }
  const variants = [{ sku: 'CUP', price: 2_000, sale_price: 1_500 }]
  const product = (await as('POST', '/api/catalog/products', { name: 'Cup ,"price": 1', variants })).json
  const cup = product.variants[0].id as string
  const discount = { name: 'A tenth', scope: 'variant', target_id: cup, percentage_ppm: 100_000 }
  await as('POST', '/api/catalog/discounts', discount)
  await as('POST', '/api/catalog/discounts', { ...discount, percentage_ppm: undefined, amount: 700 })
  const breaks = [
    { variant_id: cup, price: 1_400 },
    { variant_id: cup, from_quantity: 10, price: 1_000 }
  ]
  await market('uk', 'GBP', breaks)
  await market('b2b', 'USD', breaks)

  const { json: guest } = await app.request('POST', '/api/guest-cart', {
    body: { variant_id: cup, quantity: 1 }
  })
  const lineIn = async (code: string, quantity: number) => {
    const headers = { 'x-guest-cart-token': guest.guest_cart_token as string, 'x-market': code }
    const { json } = await app.request('PUT', `/api/guest-cart/items/${cup}`, { headers, body: { quantity } })
    const { name, price, discounted_price, line_total } = json.items[0]
    return [name, price, discounted_price, line_total]
  }
  const name = product.name as string
  // Its sale price, and 700 off, are dollars.
  expect(await lineIn('default', 1)).toEqual([name, 2_000, 1_300, 1_300])
  expect(await lineIn('uk', 2)).toEqual([name, 1_400, 1_260, 2_520])
  expect(await lineIn('uk', 10)).toEqual([name, 1_000, 900, 9_000])
  expect(await lineIn('b2b', 1)).toEqual([name, 1_400, 700, 700])
  expect(await lineIn('b2b', 10)).toEqual([name, 1_000, 300, 3_000])

  // The break applies to the lines of the variant together: splitting a quantity changes no total.
  const headers = { 'x-guest-cart-token': guest.guest_cart_token as string, 'x-market': 'b2b' }
  const totals: unknown[] = []
  for (const [plain, engraved] of [
    [10, 0],
    [9, 1],
    [4, 6]
  ]) {
    await app.request('DELETE', '/api/guest-cart', { headers })
    const add = (quantity = 0, metadata = {}) =>
      app.request('POST', '/api/guest-cart', { headers, body: { variant_id: cup, quantity, metadata } })
    if (engraved !== 0) await add(engraved, { engraving: 'For Ada' })
    const { items, subtotal, discount_total, total } = (await add(plain)).json
    expect(items).toHaveLength(engraved === 0 ? 1 : 2)
    for (const item of items) expect(item).toMatchObject({ price: 1_000, line_total: 300 * item.quantity })
    totals.push({ subtotal, discount_total, total })
  }
  expect(totals).toEqual(Array(3).fill({ subtotal: 10_000, discount_total: 7_000, total: 3_000 }))
})

test('changes of prices, promotions and markets in one process take effect in another soon', async () => {
  const other = await createTestApp({}, app.databaseUrl)
  onTestFinished(() => other.close())
  const as = async (method: string, path: string, body: object) => {
    const { status, json, text } = await app.request(method, path, { token: admin, body })
    expect(status, text).toBeLessThan(300)
    return json
  }
  const variants = [{ sku: 'BOWL', price: 2_000 }]
  const product = await as('POST', '/api/catalog/products', { name: 'Bowl', tags: ['bowls'], variants })
  const variant_id = product.variants[0].id as string
  const priced = async (price: number) => {
    const list = await as('POST', '/api/admin/price-lists', { name: 'Zloty', currency: 'PLN' })
    await as('PUT', `/api/admin/price-lists/${list.id}/prices`, { prices: [{ variant_id, price }] })
    return list.id as string
  }
  const price_list_id = await priced(8_000)
  const market = await as('POST', '/api/admin/markets', {
    code: 'pl',
    name: 'Poland',
    countries: [],
    currency: 'PLN',
    price_list_id,
    prices_include_tax: true,
    locale: 'pl'
  })

  const headers = { 'x-market': 'pl' }
  const items = [{ variant_id, quantity: 1 }]
  const { json: guest } = await other.request('POST', '/api/guest-cart', { body: items[0] })
  const token = { 'x-guest-cart-token': guest.guest_cart_token as string }
  /** In a cart, on the page of the product, in a list of products; and what remains to be paid. */
  const shown = async () => {
    const cart = await other.request('GET', '/api/guest-cart', { headers: { ...headers, ...token } })
    const page = await other.request('GET', `/api/products/${product.id}`, { headers })
    const listed = await other.request('GET', '/api/products?tag=bowls', { headers })
    const body = { items }
    const checkout = await other.request('POST', '/api/checkouts/guest', { headers, body })
    return [
      cart.json.items?.[0]?.price,
      page.json.variants?.[0]?.price,
      listed.json.items?.[0]?.price,
      checkout.json.total
    ]
  }
  // A second or so; a busy machine is no fault of the shop's.
  const soon = (prices: unknown[]) => eventually(async () => expect(await shown()).toEqual(prices))
  await soon([8_000, 8_000, 8_000, 8_000])

  await as('PUT', `/api/admin/price-lists/${price_list_id}/prices`, {
    prices: [{ variant_id, price: 7_000 }]
  })
  await soon([7_000, 7_000, 7_000, 7_000])
  const promotion = await as('POST', '/api/admin/promotions', {
    name: 'A tenth off',
    class: 'order',
    effect: { type: 'percentage', percentage_ppm: 100_000 },
    markets: ['pl']
  })
  await soon([7_000, 7_000, 7_000, 6_300])
  await as('PATCH', `/api/admin/promotions/${promotion.id}`, { active: false })
  await soon([7_000, 7_000, 7_000, 7_000])
  await as('PATCH', `/api/admin/markets/${market.id}`, { price_list_id: await priced(6_000) })
  await soon([6_000, 6_000, 6_000, 6_000])
  await as('PATCH', `/api/admin/markets/${market.id}`, { active: false })
  await soon([undefined, undefined, undefined, undefined])
})

test('a request for an unknown market is rejected, and the error names the known markets', async () => {
  const { status, json } = await app.request('GET', '/api/cart?market=mars', { token: admin })
  expect([status, json]).toMatchObject([
    400,
    { code: 'PRICING_MARKET_UNKNOWN', known: expect.arrayContaining(['default', 'eu']) }
  ])
  expect((await app.request('GET', '/api/cart?market=eu&market=us', { token: admin })).status).toBe(400)
})

test('the same idempotency key with another market is a different request and rejected', async () => {
  const headers = { 'idempotency-key': 'one-key-two-markets' }
  const add = (more = {}) =>
    app.request('POST', '/api/cart', { token: admin, body: lineOf(), headers: { ...headers, ...more } })
  expect((await add()).status).toBe(200)
  expect((await add(inEuro.headers)).json.code).toBe('IDEMPOTENCY_KEY_REUSED')
})

test('without the pricing module there are no markets, and a cart is in the currency of the shop', async () => {
  const plain = await createTestApp({
    CARTWRIGHT__MODULES__PRICING__ENABLED: 'false',
    CARTWRIGHT__MODULES__ORDERS__ENABLED: 'false'
  })
  try {
    expect((await plain.request('GET', '/api/markets')).status).toBe(503)
    const refused = await plain.request('POST', '/api/guest-cart', { body: lineOf(), ...inEuro })
    expect(refused.json.code).toBe('CATALOG_VARIANT_NOT_FOUND')
  } finally {
    await plain.close()
  }
})

test('an unknown query parameter is rejected, even beside a valid market parameter', async () => {
  const { json: document } = await app.request('GET', '/openapi.json')
  type Operation = { parameters?: { in: string; name: string }[]; requestBody?: object }
  const takesMarket = ({ parameters = [], requestBody }: Operation) =>
    requestBody === undefined &&
    parameters.some(({ in: place, name }) => place === 'query' && name === 'market')
  const operations = Object.entries(document.paths as Record<string, Record<string, Operation>>).flatMap(
    ([path, methods]) =>
      Object.entries(methods).flatMap(([method, operation]) =>
        takesMarket(operation) ? [{ method, path }] : []
      )
  )
  expect(operations.length).toBeGreaterThan(7)
  for (const { method, path } of operations) {
    const target = `${path.replace(/\{\w+\}/g, variantId)}?market=default&markt=eu`
    const { status, json } = await app.request(method.toUpperCase(), target, { token: admin })
    expect([method, path, status, json.errors?.[0]?.path]).toEqual([method, path, 400, 'query/markt'])
  }
  const { status, json } = await app.request('POST', '/api/guest-cart?markt=eu', { body: lineOf() })
  expect([status, json.errors]).toMatchObject([400, [{ path: 'query/markt' }]])
})
