import { expect, test } from 'vitest'
import { createCategory, createDiscount, createProduct } from '../../../../test/support/catalog.ts'
import { eventually } from '../../../../test/support/eventually.ts'
import { expectAgreement, useMarkets } from '../../../../test/support/markets.ts'

const soon = (expectation: () => Promise<void>) => eventually(expectation)

/** Three products of one variant, and a market in pounds whose list has two of them. */
async function usePounds() {
  const shop = await useMarkets()
  const product = async (name: string, price: number) =>
    createProduct(shop, { name, variants: [{ sku: name, price }] })
  const [mug, cup, jug] = [
    await product('Mug', 1_000),
    await product('Cup', 2_000),
    await product('Jug', 3_000)
  ]
  const list = await shop.createList('GBP')
  await shop.setPrices(
    list,
    { variant_id: mug.variants[0].id, price: 900 },
    { variant_id: cup.variants[0].id, price: 700 }
  )
  await shop.createMarket('uk', 'GBP', list)
  await soon(async () => expect(await shop.listed('uk')).toHaveLength(2))
  return { ...shop, mug, cup, jug, list }
}

test("product lists show, sort and filter by the prices of the request's market", async () => {
  const { listed, request } = await usePounds()
  expect(await listed('default')).toEqual([
    ['Mug', 1_000],
    ['Cup', 2_000],
    ['Jug', 3_000]
  ])
  expect(await listed('uk')).toEqual([
    ['Cup', 700],
    ['Mug', 900]
  ])
  expect(await listed('uk', 'sort=-price')).toEqual([
    ['Mug', 900],
    ['Cup', 700]
  ])
  expect(await listed('uk', 'max_price=800')).toEqual([['Cup', 700]])
  expect(await listed('uk', 'q=mug&min_price=0')).toEqual([['Mug', 900]])
  const { json } = await request('GET', '/api/products?sort=name&count=true', {
    headers: { 'x-market': 'uk' }
  })
  expect(json.total).toBe(3)
  expect(json.items).toMatchObject([
    { name: 'Cup', price: 700, discounted_price: 700, currency: 'GBP', variant_count: 1 },
    { name: 'Jug', price: null, discounted_price: null, currency: 'GBP', variant_count: 0 },
    { name: 'Mug', price: 900, discounted_price: 900, currency: 'GBP', variant_count: 1 }
  ])
})

test('a variant without a price in a market has no price in lists, is not on its product page, and has no offer', async () => {
  const { catalog, createMarket, listed, onPage, pricing, request, mug, jug } = await usePounds()
  await createMarket('eu', 'EUR')
  const wanted = [{ variantId: jug.variants[0].id, quantity: 1 }]
  for (const name of ['uk', 'eu']) {
    expect(await onPage(name, jug.id)).toEqual([])
    expect(await catalog.offers(wanted, await pricing.markets.resolve({ name }))).toEqual([undefined])
  }
  expect(await listed('eu')).toEqual([])
  expect(await listed('eu', 'sort=name')).toEqual([
    ['Cup', null],
    ['Jug', null],
    ['Mug', null]
  ])
  const { json } = await request('GET', `/api/products/${mug.slug}?market=uk`)
  expect(json).toMatchObject({ currency: 'GBP', variants: [{ price: 900, currency: 'GBP' }] })
})

test('the cursor of a product list continues only in the market of its first page', async () => {
  const { createMarket, request, list } = await usePounds()
  await createMarket('ie', 'GBP', list)
  const page = (query: string) => request('GET', `/api/products?sort=price&limit=1${query}`)
  for (const from of ['uk', 'ie', 'default']) {
    const { json } = await page(`&market=${from}`)
    const cursor = `&cursor=${json.next_cursor}`
    expect((await page(`${cursor}&market=${from}`)).json.items).toMatchObject([
      { name: from === 'default' ? 'Cup' : 'Mug' }
    ])
    for (const other of ['uk', 'ie', 'default'].filter(code => code !== from)) {
      const refused = await page(`${cursor}&market=${other}`)
      expect([refused.status, refused.json.code]).toEqual([400, 'INVALID_CURSOR'])
    }
  }
})

test('each market has its own product responses and ETags, and an unknown market is rejected', async () => {
  const { request, mug } = await usePounds()
  for (const path of [`/api/products/${mug.id}`, '/api/products?sort=name']) {
    const inMarket = (name: string, headers = {}) =>
      request('GET', path, { headers: { 'x-market': name, ...headers } })
    const [uk, usual, unnamed] = [await inMarket('uk'), await inMarket('default'), await request('GET', path)]
    expect(uk.headers.vary).toMatch(/\bx-market\b/i)
    expect(uk.headers['cache-control']).toBe('public, max-age=0, stale-if-error=300')
    expect(uk.headers.etag).not.toBe(usual.headers.etag)
    expect(unnamed.headers.etag).toBe(usual.headers.etag)
    expect((await inMarket('uk', { 'if-none-match': uk.headers.etag })).status).toBe(304)
    expect((await inMarket('uk', { 'if-none-match': usual.headers.etag })).status).toBe(200)
    const refused = await inMarket('mars')
    expect([refused.status, refused.json.known]).toEqual([400, ['default', 'uk']])
  }
})

test('product lists have the prices of pages and offers: parent lists, breaks, sales, discounts and minimum quantities', async () => {
  const shop = await useMarkets()
  const category = await createCategory(shop, 'Cups')
  const products: Awaited<ReturnType<typeof createProduct>>[] = []
  for (let index = 0; index < 6; index += 1) {
    const variants = [0, 1].map(at => ({
      sku: `V-${index}-${at}`,
      price: 1_000 + 370 * index - 100 * at,
      ...(index % 3 === 1 && { sale_price: 800 + 100 * at }),
      ...(index % 2 === 1 && { quantity_min: 10 })
    }))
    products.push(await createProduct(shop, { name: `P${index}`, variants, category_ids: [category.id] }))
  }
  const [base, pounds] = [await shop.createList('USD'), await shop.createList('GBP')]
  const wholesale = await shop.createList('USD', { parent_id: base, adjustment_ppm: -105_000 })
  const ids = products.flatMap(({ variants }) => variants.map(({ id }: { id: string }) => id)) as string[]
  for (const [index, variant_id] of ids.entries()) {
    if (index % 3 === 0)
      await shop.setPrices(
        base,
        { variant_id, price: 950 + index },
        { variant_id, from_quantity: 10, price: 777 }
      )
    if (index % 4 === 0)
      await shop.setPrices(pounds, { variant_id, from_quantity: 2, price: 640 }, { variant_id, price: 655 })
    if (index % 5 === 0) await shop.setPrices(wholesale, { variant_id, from_quantity: 5, price: 500 })
  }
  await shop.createMarket('wholesale', 'USD', wholesale)
  await shop.createMarket('base', 'USD', base)
  await shop.createMarket('uk', 'GBP', pounds)
  await shop.createMarket('eu', 'EUR')
  await shop.createMarket('us', 'USD')
  const markets = ['default', 'wholesale', 'base', 'uk', 'eu', 'us']
  const agree = async () => {
    for (const market of markets)
      await expectAgreement(
        shop,
        products.map(({ id }) => id),
        market
      )
  }
  await soon(agree)
  await createDiscount(shop, { scope: 'category', target_id: category.id, percentage_ppm: 125_000 })
  await createDiscount(shop, { scope: 'product', target_id: products[2].id, amount: 400 })
  await agree()
})
