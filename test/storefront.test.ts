import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createTestApp, type TestApp } from './support/app.ts'

// What a shop front meets: the whole application, over real sockets.

const ADMIN = { email: 'boss@example.com', password: 'nine lives and a piano' }

let app: TestApp
let origin: string
let token: string
let product: { id: string; slug: string }
let category: { id: string; slug: string }

beforeAll(async () => {
  app = await createTestApp({
    CARTWRIGHT_ADMIN_EMAIL: ADMIN.email,
    CARTWRIGHT_ADMIN_PASSWORD: ADMIN.password
  })
  origin = await app.app.listen({ port: 0, host: '127.0.0.1' })
  token = (await app.request('POST', '/api/auth/login', { body: ADMIN })).json.access_token
  category = await made('/api/catalog/categories', { name: 'Kitchen' })
  const variants = [{ sku: 'MUG', price: 1_000 }]
  product = await made('/api/catalog/products', { name: 'Mug', category_ids: [category.id], variants })
})
afterAll(() => app.close())

async function administer(method: string, path: string, body: object) {
  const { status, json, text } = await app.request(method, path, { token, body })
  expect(status, text).toBeLessThan(300)
  return json
}
const made = (path: string, body: object) => administer('POST', path, body)
const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(origin + path, { method, headers })

test('the catalog is asked for again without being sent again, until it changes', async () => {
  const paths = [
    '/api/products',
    '/api/products?q=mug',
    `/api/products/${product.slug}`,
    '/api/categories',
    `/api/categories/${category.id}`
  ]
  const tags = new Map<string, string>()
  for (const path of paths) {
    const answer = await ask(path)
    expect(answer.headers.get('cache-control'), path).toBe('public, no-cache')
    tags.set(path, answer.headers.get('etag') ?? '')
  }
  const statuses = async () => {
    const answers = paths.map(path => ask(path, { 'if-none-match': tags.get(path) ?? '' }))
    return (await Promise.all(answers)).map(({ status }) => status)
  }
  expect(await statuses()).toEqual([304, 304, 304, 304, 304])

  await administer('PATCH', `/api/catalog/products/${product.id}`, { name: 'Mug, larger' })
  expect(await statuses()).toEqual([200, 200, 200, 304, 304])
  await administer('PATCH', `/api/catalog/categories/${category.id}`, { name: 'Kitchen and table' })
  expect(await statuses()).toEqual([200, 200, 200, 200, 200])
})

test('a price is not old when a discount begins: no 304 then', async () => {
  const path = `/api/products/${product.slug}`
  const etag = (await ask(path)).headers.get('etag') ?? ''
  const known = { 'if-none-match': etag }
  const discount = await made('/api/catalog/discounts', {
    name: 'Later',
    scope: 'product',
    target_id: product.id,
    percentage_ppm: 500_000,
    starts_at: '2100-01-01T00:00:00Z'
  })
  expect((await ask(path, known)).status).toBe(304)

  const soon = new Date(Date.now() + 300).toISOString()
  await administer('PATCH', `/api/catalog/discounts/${discount.id}`, { starts_at: soon })
  await vi.waitFor(async () => expect((await ask(path, known)).status).toBe(200), 20_000)
  expect(await (await ask(path, known)).json()).toMatchObject({
    variants: [{ price: 1_000, discounted_price: 500 }]
  })
})
