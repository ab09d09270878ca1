import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createTestApp, type TestApp } from './support/app.ts'

const PASSWORD = 'nine lives and a piano'
const PRODUCT_VARIANTS = 100

let first: TestApp
let tokens: string[]
let variantIds: string[]
beforeAll(async () => {
  first = await createShop()
  variantIds = [...(await createProduct(first, 'a')), ...(await createProduct(first, 'b'))]
  tokens = []
  for (let number = 0; number < 3; number += 1) {
    tokens.push(await tokenFrom(first, '/api/auth/register', `customer-${number}@example.com`))
  }
})
afterAll(() => first.close())

const createShop = () =>
  createTestApp({ CARTWRIGHT_ADMIN_EMAIL: 'boss@example.com', CARTWRIGHT_ADMIN_PASSWORD: PASSWORD })

async function tokenFrom(app: TestApp, url: string, email: string): Promise<string> {
  const { status, json } = await app.request('POST', url, { body: { email, password: PASSWORD } })
  expect(status).toBeLessThan(300)
  return json.access_token
}

async function createProduct(app: TestApp, name: string): Promise<string[]> {
  const token = await tokenFrom(app, '/api/auth/login', 'boss@example.com')
  const sizes = Array.from({ length: PRODUCT_VARIANTS }, (_, number) => `${name}${number}`)
  const variants = sizes.map(size => ({ sku: size, price: 100, attributes: { Size: size } }))
  const options = [{ name: 'Size', values: sizes }]
  const body = { name, status: 'active', options, variants }
  const { status, json, text } = await app.request('POST', '/api/catalog/products', { token, body })
  expect(status, text).toBe(201)
  return json.variants.map((variant: { id: string }) => variant.id)
}

/** What a request costs the database: as `/metricsz` counts, every statement and every transaction. */
async function acquiresOf(app: TestApp, request: () => Promise<unknown>): Promise<number> {
  const count = async () => (await app.request('GET', '/metricsz')).json.db_pool.acquire_count
  const before = await count()
  await request()
  return (await count()) - before
}

/** To verify its first token a process reads the account behind it and the signing keys, once; and once the markets. */
async function warmUp(app: TestApp, token: string): Promise<void> {
  await app.request('GET', '/api/auth/me', { token })
  await app.request('GET', '/api/markets')
}

test.each([
  [1, 0],
  [5, 1],
  [200, 2]
])(
  'reading a cart of %i lines takes two statements in a process that just started, and one from then on',
  async (lines, customer) => {
    const token = tokens[customer] as string
    const items = variantIds.slice(0, lines).map(variant_id => ({ variant_id, quantity: 1 }))
    expect((await first.request('POST', '/api/cart/merge', { token, body: { items } })).status).toBe(200)

    const second = await createTestApp({}, first.databaseUrl)
    try {
      await warmUp(second, token)
      const read = async () => {
        const { json } = await second.request('GET', '/api/cart', { token })
        expect([json.items.length, json.total]).toEqual([lines, lines * 100])
      }
      expect(await acquiresOf(second, read)).toBe(2)
      expect(await acquiresOf(second, read)).toBe(1)
      expect(await acquiresOf(second, () => second.request('GET', '/api/cart/count', { token }))).toBe(1)
    } finally {
      await second.close()
    }
  }
)

/** Returns the cheapest of several runs, because stock that is half a second old is refreshed beside a response. */
async function leastAcquiresOf(app: TestApp, request: () => Promise<unknown>): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let time = 0; time < 20 && least > 1; time += 1)
    least = Math.min(least, await acquiresOf(app, request))
  return least
}

test('reading a cart takes two more statements while the process has not cached the stock, and none more afterwards', async () => {
  const shop = await createShop()
  onTestFinished(() => shop.close())
  const ids = (await createProduct(shop, 'c')).slice(0, 5)
  await shop.sql(
    `insert into inventory.items (id, tracked) select unnest($1::uuid[]), true
     on conflict (id) do update set tracked = true`,
    [ids]
  )
  await shop.sql(
    `insert into inventory.levels (item_id, location_id, on_hand)
     select item_id, locations.id, 7 from unnest($1::uuid[]) as counted (item_id) cross join inventory.locations`,
    [ids]
  )
  const token = await tokenFrom(shop, '/api/auth/register', 'counted@example.com')
  const items = ids.map(variant_id => ({ variant_id, quantity: 1 }))
  expect((await shop.request('POST', '/api/cart/merge', { token, body: { items } })).status).toBe(200)

  const second = await createTestApp({}, shop.databaseUrl)
  try {
    await warmUp(second, token)
    const read = async () => {
      const { json } = await second.request('GET', '/api/cart', { token })
      expect(json.items.map((item: { stock: number }) => item.stock)).toEqual(ids.map(() => 7))
    }
    // What has changed, and how many there are.
    expect(await acquiresOf(second, read)).toBe(4)
    expect(await leastAcquiresOf(second, read)).toBe(1)
  } finally {
    await second.close()
  }
})
