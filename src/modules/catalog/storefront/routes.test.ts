import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type CatalogApp,
  createCategory,
  createDiscount,
  createProduct,
  lowestPricesOf,
  useCatalog
} from '../../../../test/support/catalog.ts'
import { eventually } from '../../../../test/support/eventually.ts'
import { doOnceMore } from '../../../../test/support/jobs.ts'
import { settled } from '../../../../test/support/settled.ts'
import { needsOwnShop, shareShops } from '../../../../test/support/shared-shops.ts'
import { runSql } from '../../../../test/support/sql.ts'
import { compileSchema } from '../../../kernel/compile-schema.ts'
import { listOf } from '../../../kernel/wire.ts'
import {
  CategoryDetailResponse,
  CategoryTreeResponse,
  ProductResponse,
  ProductSummaryResponse
} from './schema.ts'

shareShops()

const admin = { token: 'admin' }
type Item = { id: string; name: string; discounted_price: number }

const list = async (app: CatalogApp, query = '') => (await app.request('GET', `/api/products?${query}`)).json
const namesIn = async (app: CatalogApp, query: string): Promise<string[]> =>
  (await list(app, query)).items.map((item: Item) => item.name).sort()

async function walk(app: CatalogApp, query: string): Promise<Item[]> {
  const items: Item[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await list(app, `${query}${cursor && `&cursor=${cursor}`}`)
    items.push(...page.items)
    cursor = page.next_cursor
  }
  return items
}

test('an active product is found by id and slug, with its variants that are for sale', async () => {
  needsOwnShop()
  const app = await useCatalog()
  const product = await createProduct(app, {
    name: 'Mug',
    slug: 'mug',
    brand: 'Acme',
    images: [{ url: 'https://example.com/a.png' }],
    variants: [
      { sku: 'A', price: 1_250, sale_price: 1_000, weight_grams: 300 },
      { sku: 'B', price: 900, active: false },
      { sku: 'C', price: 900, currency: 'EUR' }
    ]
  })
  const bySlug = await app.request('GET', '/api/products/mug')
  expect(bySlug.headers['content-type']).toContain('application/json')
  expect(bySlug.json).toMatchObject({
    id: product.id,
    name: 'Mug',
    brand: 'Acme',
    currency: 'USD',
    variants: [{ sku: 'A', price: 1_250, discounted_price: 1_000, stock: null, weight_grams: 300 }]
  })
  expect(bySlug.json.variants).toHaveLength(1)
  expect(bySlug.json).not.toHaveProperty('version')
  expect((await app.request('GET', `/api/products/${product.id}`)).json).toEqual(bySlug.json)
  expect((await list(app)).items).toMatchObject([
    {
      id: product.id,
      price: 1_250,
      discounted_price: 1_000,
      variant_count: 1,
      image_url: 'https://example.com/a.png'
    }
  ])
})

test('drafts, archived and unknown products are not found in the storefront', async () => {
  needsOwnShop()
  const app = await useCatalog()
  for (const status of ['draft', 'archived']) await createProduct(app, { slug: status, status })
  for (const slug of ['draft', 'archived', 'unknown', '01990000-0000-7000-8000-000000000000']) {
    const { json } = await app.request('GET', `/api/products/${slug}`)
    expect(json).toMatchObject({ status: 404, code: 'CATALOG_PRODUCT_NOT_FOUND' })
  }
  expect((await list(app, 'count=true')).total).toBe(0)
})

test('product lists are filtered by category, tag, text and price, separately and combined', async () => {
  needsOwnShop()
  const app = await useCatalog()
  const home = await createCategory(app, 'Home')
  const kitchen = await createCategory(app, 'Kitchen', home.id)
  const make = (name: string, price: number, fields: object = {}) =>
    createProduct(app, { name, variants: [{ sku: `sku_${name}-1`, price }], ...fields })
  await make('Crème Mug', 1_000, { category_ids: [kitchen.id], tags: ['tea'] })
  await make('Jug', 2_000, { category_ids: [home.id], tags: ['tea', 'big'], brand: 'Mugs & Co' })
  await make('100% Lamp', 3_000, { tags: ['big'] })
  await createProduct(app, { name: 'Nothing for sale', variants: [{ sku: 'none', price: 1, active: false }] })

  expect(await namesIn(app, 'category=home')).toEqual(['Crème Mug', 'Jug'])
  expect(await namesIn(app, `category=${kitchen.id}`)).toEqual(['Crème Mug'])
  expect(await namesIn(app, 'category=none')).toEqual([])
  expect(await namesIn(app, 'tag=big')).toEqual(['100% Lamp', 'Jug'])
  expect(await namesIn(app, 'q=CREME')).toEqual(['Crème Mug'])
  expect(await namesIn(app, `q=${encodeURIComponent('crème')}`)).toEqual(['Crème Mug'])
  expect(await namesIn(app, 'q=mug')).toEqual(['Crème Mug', 'Jug'])
  expect(await namesIn(app, 'q=SKU_jug')).toEqual(['Jug'])
  expect(await namesIn(app, 'q=0%25')).toEqual([])
  expect(await namesIn(app, 'q=100%25')).toEqual(['100% Lamp'])
  expect(await namesIn(app, 'q=sku_')).toHaveLength(3)
  expect(await namesIn(app, 'q=_')).toEqual([])
  expect(await namesIn(app, 'min_price=1500')).toEqual(['100% Lamp', 'Jug'])
  expect(await namesIn(app, 'min_price=1000&max_price=2000')).toEqual(['Crème Mug', 'Jug'])
  expect(await namesIn(app, 'category=home&tag=tea&q=mug&max_price=1500&sort=-price')).toEqual(['Crème Mug'])
  expect(await list(app, 'category=home&tag=tea&q=mug&max_price=1500&count=true')).toMatchObject({ total: 1 })
  expect(await list(app, 'sort=price&count=true')).toMatchObject({ total: 3, items: [{}, {}, {}] })
  expect(await list(app, 'count=true')).toMatchObject({ total: 4 })
})

test('product lists show changed SKUs and moved categories immediately', async () => {
  const app = await useCatalog()
  const home = await createCategory(app, 'Home')
  const garden = await createCategory(app, 'Garden')
  const kitchen = await createCategory(app, 'Kitchen', home.id)
  const mug = await createProduct(app, {
    name: 'Mug',
    category_ids: [kitchen.id],
    variants: [{ sku: 'OLD-1', price: 1 }]
  })
  const change = async (method: string, path: string, body?: object) => {
    const { status } = await app.request(method, `/api/catalog/${path}`, { ...admin, body })
    expect(status).toBeLessThan(300)
  }
  const found = async (...queries: string[]) =>
    Promise.all(queries.map(async query => (await namesIn(app, query)).length))

  expect(await found('category=home', 'category=garden', 'q=old-1', 'q=new-2')).toEqual([1, 0, 1, 0])
  await change('PATCH', `categories/${kitchen.id}`, { parent_id: garden.id })
  await change('PATCH', `variants/${mug.variants[0].id}`, { sku: 'NEW-2' })
  expect(await found('category=home', 'category=garden', 'q=old-1', 'q=new-2')).toEqual([0, 1, 0, 1])
  await change('POST', `products/${mug.id}/variants`, { sku: 'NEW-3', price: 1, attributes: { Size: '3' } })
  await change('DELETE', `categories/${kitchen.id}`)
  expect(await found('category=garden', 'q=new-2', 'q=new-3')).toEqual([0, 1, 1])
  await change('PATCH', `products/${mug.id}`, { category_ids: [home.id] })
  await change('DELETE', `variants/${mug.variants[0].id}`)
  expect(await found('category=home', 'q=new-2', 'q=new-3')).toEqual([1, 0, 1])
})

test('paging through a product list returns each product exactly once, also among equal names and prices', async () => {
  needsOwnShop()
  const app = await useCatalog()
  const made: { id: string; name: string; price: number }[] = []
  for (let index = 0; index < 30; index += 1) {
    const [name, price] = [['Mug', 'mug', 'Jug'][index % 3] ?? '', [100, 100, 250][index % 7] ?? 900]
    const { id } = await createProduct(app, { name, variants: [{ sku: `S${index}`, price }] })
    made.push({ id, name, price })
  }
  const sorted = {
    newest: made.toReversed(),
    name: made.toSorted((a, b) => Number(a.name === 'Jug' ? 0 : 1) - Number(b.name === 'Jug' ? 0 : 1)),
    price: made.toSorted((a, b) => a.price - b.price),
    '-price': made.toReversed().sort((a, b) => b.price - a.price)
  }
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...(Object.keys(sorted) as (keyof typeof sorted)[])),
      fc.integer({ min: 1, max: 12 }),
      async (sort, limit) => {
        const items = await walk(app, `sort=${sort}&limit=${limit}`)
        expect(items.map(item => item.id)).toEqual(sorted[sort].map(item => item.id))
      }
    ),
    { numRuns: 20 }
  )
})

test('the cursor of a product list is valid for that list only', async () => {
  const app = await useCatalog()
  for (const name of ['A', 'B', 'C']) await createProduct(app, { name, tags: ['t'] })
  const { next_cursor } = await list(app, 'limit=1&sort=price')
  const other = (key: unknown[]) => Buffer.from(JSON.stringify(key)).toString('base64url')
  const [fingerprint, price] = JSON.parse(Buffer.from(next_cursor, 'base64url').toString())
  expect((await list(app, `limit=2&sort=price&cursor=${next_cursor}`)).items).toHaveLength(2)
  for (const query of [
    `cursor=${next_cursor}`,
    `sort=-price&cursor=${next_cursor}`,
    `sort=name&cursor=${next_cursor}`,
    `sort=price&tag=t&cursor=${next_cursor}`,
    `sort=price&max_price=5000&cursor=${next_cursor}`,
    'sort=price&cursor=rubbish',
    `sort=price&cursor=${other([fingerprint, price, 'no id'])}`,
    `sort=price&cursor=${other([fingerprint, 'text', '01990000-0000-7000-8000-000000000000'])}`,
    `sort=price&cursor=${other([price, '01990000-0000-7000-8000-000000000000'])}`
  ]) {
    const { code, errors } = await list(app, query)
    expect([query, code, errors?.[0].path]).toEqual([query, 'INVALID_CURSOR', 'query/cursor'])
  }
})

test('invalid product list queries are rejected', async () => {
  const app = await useCatalog()
  for (const query of [
    'limit=0',
    'limit=101',
    'limit=x',
    'sort=best',
    'min_price=-1',
    'max_price=1.5',
    'in_stock=maybe',
    'q=',
    'q=%00',
    'category=%00',
    `q=${'x'.repeat(101)}`
  ])
    expect([query, (await list(app, query)).status]).toEqual([query, 400])
  expect((await app.request('GET', '/api/products/%00')).status).toBe(400)
})

/** Reads the data that pages share, so that it is cached. */
async function settle(app: CatalogApp) {
  await settled(app)
  await app.request('GET', '/api/categories')
}

test('concurrent requests for a product page build it once', async () => {
  needsOwnShop()
  const app = await useCatalog()
  const { slug } = await createProduct(app)
  await settle(app)
  const urls = Array.from({ length: 40 }, (_, index) => `/api/products${index % 2 ? `/${slug}` : ''}`)
  const { result: answers, statements } = await app.record(() =>
    Promise.all(urls.map(url => app.request('GET', url)))
  )
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(2)
  expect(statements).toHaveLength(2)
})

test('a product list takes one statement, one more for the total, none when cached; a product takes one', async () => {
  needsOwnShop()
  const app = await useCatalog()
  const { slug } = await createProduct(app)
  await settle(app)
  const statementsOf = async (url: string) =>
    (await app.record(() => app.request('GET', url))).statements.length
  expect(await statementsOf('/api/products')).toBe(1)
  expect(await statementsOf('/api/products?limit=3&count=true')).toBe(2)
  expect(await statementsOf('/api/products')).toBe(0)
  expect(await statementsOf(`/api/products/${slug}`)).toBe(1)
  expect(await statementsOf(`/api/products/${slug}`)).toBe(0)
  expect(await statementsOf('/api/products?q=mug')).toBe(1)
  expect(await statementsOf('/api/products?q=mug')).toBe(1)
})

test('stored prices in another currency are not shown in product lists', async () => {
  needsOwnShop()
  const app = await useCatalog({ CARTWRIGHT__CATALOG__PAGE_CACHE_SECONDS: '0' })
  await createProduct(app, { variants: [{ sku: 'A', price: 900 }] })
  // The first run in a new shop is completed, so that it does not repair the price.
  await doOnceMore(app, 'catalog.check_prices')
  await runSql(app.databaseUrl, `update catalog.products set lowest_price_currency = 'EUR'`)
  const unpriced = { price: null, discounted_price: null, variant_count: 0, currency: 'USD' }
  expect((await list(app)).items).toMatchObject([unpriced])
  expect(await lowestPricesOf(app.platform.db).repriceAll()).toBe(1)
  const priced = { price: 900, discounted_price: 900, variant_count: 1, currency: 'USD' }
  expect((await list(app)).items).toMatchObject([priced])
})

test('the product pages of one process show changes made by another', async () => {
  needsOwnShop()
  const one = await useCatalog()
  const other = await useCatalog({}, one.databaseUrl)
  const product = await createProduct(one, { name: 'Mug', slug: 'mug' })
  await eventually(async () => expect((await list(other)).items).toHaveLength(1))
  const priceSeen = async () =>
    (await other.request('GET', '/api/products/mug')).json.variants[0].discounted_price
  expect(await priceSeen()).toBe(1_000)

  await createDiscount(one, { scope: 'product', target_id: product.id, amount: 400 })
  await eventually(async () => expect(await priceSeen()).toBe(600))
  await one.request('PATCH', `/api/catalog/products/${product.id}`, { ...admin, body: { name: 'Jug' } })
  await eventually(async () => expect((await list(other)).items[0].name).toBe('Jug'))
  await createCategory(one, 'Fresh')
  const tree = async () => (await other.request('GET', '/api/categories')).json.items
  await eventually(async () => expect(await tree()).toHaveLength(1))
  await one.request('DELETE', `/api/catalog/products/${product.id}`, admin)
  await eventually(async () => expect((await other.request('GET', '/api/products/mug')).status).toBe(404))
})

test('a cached product page does not outlive the start of a discount', async () => {
  const app = await useCatalog()
  const product = await createProduct(app)
  const starts_at = new Date(Date.now() + 1_500).toISOString()
  await createDiscount(app, { scope: 'product', target_id: product.id, percentage_ppm: 500_000, starts_at })
  const priceSeen = async () =>
    (await app.request('GET', `/api/products/${product.slug}`)).json.variants[0].discounted_price
  expect(await priceSeen()).toBe(1_000)
  await eventually(async () => expect(await priceSeen()).toBe(500))
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(starts_at))
})

test('without a page cache the product responses are the same', async () => {
  const app = await useCatalog({ CARTWRIGHT__CATALOG__PAGE_CACHE_SECONDS: '0' })
  const product = await createProduct(app, { name: 'Mug', slug: 'mug' })
  await list(app)
  await app.request('PATCH', `/api/catalog/products/${product.id}`, { ...admin, body: { name: 'Jug' } })
  expect((await list(app)).items[0].name).toBe('Jug')
})

test('product responses match their schemas, although the schemas do not serialize them', async () => {
  const app = await useCatalog()
  const parent = await createCategory(app, 'Rooms')
  const category = await createCategory(app, 'Pantry', parent.id)
  await createProduct(app, {
    slug: 'mug',
    category_ids: [category.id],
    images: [{ url: 'https://example.com/a.png' }],
    options: [{ name: 'Size', values: ['S'] }],
    variants: [{ sku: 'A', price: 1, attributes: { Size: 'S' } }]
  })
  await createProduct(app, { variants: [] })
  for (const [url, schema] of [
    ['/api/products?count=true', listOf(ProductSummaryResponse)],
    ['/api/products/mug', ProductResponse],
    ['/api/categories', CategoryTreeResponse],
    ['/api/categories/pantry', CategoryDetailResponse]
  ] as const) {
    const { status, json } = await app.request('GET', url)
    expect([url, status, compileSchema(schema)(json)]).toEqual([url, 200, []])
    const always = Object.keys(schema.properties).filter(name => name !== 'total_is_more')
    expect(Object.keys(json).sort()).toEqual(always.sort())
  }
})

test.each([99_999_999_999, 2 ** 60, 1.5, -1, 1e300])(
  'a forged product list cursor with the key %d causes no server error',
  async key => {
    const app = await useCatalog()
    for (let each = 0; each < 3; each += 1) await createProduct(app)
    for (const sort of ['newest', 'price', '-price']) {
      const { next_cursor } = await list(app, `sort=${sort}&limit=1`)
      const [fingerprint, , id] = JSON.parse(Buffer.from(next_cursor, 'base64url').toString())
      const cursor = Buffer.from(JSON.stringify([fingerprint, key, id])).toString('base64url')
      expect((await app.request('GET', `/api/products?sort=${sort}&cursor=${cursor}`)).status).toBeLessThan(
        500
      )
    }
  }
)
