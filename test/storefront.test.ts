import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestApp, type TestApp } from './support/app.ts'
import { eventually } from './support/eventually.ts'

// What a shop front meets: the whole application, over real sockets.

const SHOP = 'https://shop.example.com'
const ADMIN = { email: 'boss@example.com', password: 'nine lives and a piano' }

let app: TestApp
let origin: string
let token: string
let product: { id: string; slug: string }
let category: { id: string; slug: string }

beforeAll(async () => {
  app = await createTestApp({
    CARTWRIGHT__SERVER__CORS__ORIGINS: `[${SHOP}]`,
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
const ask = (path: string, headers: Record<string, string> = {}, method = 'GET', body?: object) =>
  fetch(origin + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
// biome-ignore lint/suspicious/noExplicitAny: a test reads fields of whatever came back
const bodyOf = (answer: Response): Promise<any> => answer.json()

test('revalidating catalog responses gets 304 until the catalog changes', async () => {
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
    expect(answer.headers.get('cache-control'), path).toBe('public, max-age=0, stale-if-error=300')
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

test('a cached price is not revalidated with 304 after a discount begins', async () => {
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
  await eventually(async () => expect((await ask(path, known)).status).toBe(200))
  const { variants } = await bodyOf(await ask(path, known))
  expect(variants).toMatchObject([{ price: 1_000, discounted_price: 500 }])
})

test('CORS lets an allowed page send every header that any route accepts, and lets no other page', async () => {
  const { paths, components } = (await app.request('GET', '/openapi.json')).json
  const named = ({ $ref, ...part }: Part): Part =>
    $ref === undefined ? part : components.parameters[$ref.split('/').at(-1) ?? '']
  const preflight = (path: string, method: string, from: string) =>
    ask(path, { origin: from, 'access-control-request-method': method }, 'OPTIONS')
  const modules = new Set<string>()
  const sent = new Set<string>()
  type Part = { $ref?: string; name?: string; in?: string }
  type Operation = { tags: string[]; parameters?: Part[]; responses: Record<string, { headers?: object }> }
  for (const [path, methods] of Object.entries<Record<string, Operation>>(paths)) {
    if (!path.startsWith('/api/')) continue
    for (const [method, { tags, parameters = [], responses }] of Object.entries(methods)) {
      const { status, headers } = await preflight(path, method.toUpperCase(), SHOP)
      expect([status, headers.get('access-control-allow-origin')], path).toEqual([204, SHOP])
      expect(headers.get('access-control-allow-methods')?.split(', ')).toContain(method.toUpperCase())
      const allowed = headers.get('access-control-allow-headers')?.toLowerCase().split(', ')
      const inHeaders = parameters.map(named).filter(each => each.in === 'header')
      const own = inHeaders.map(({ name = '' }) => name.toLowerCase())
      expect(allowed, `${method} ${path}`).toEqual(expect.arrayContaining(own))
      for (const name of own) sent.add(name)
      const exposed = headers.get('access-control-expose-headers')?.toLowerCase().split(', ')
      const said = Object.values(responses).flatMap(each => Object.keys(each.headers ?? {}))
      expect(exposed, `${method} ${path}`).toEqual(
        expect.arrayContaining(said.map(name => name.toLowerCase()))
      )
      expect(allowed, 'a secret of servers').not.toContain('x-cartwright-client')
      for (const tag of tags) modules.add(tag)
    }
    const refused = await preflight(path, 'GET', 'https://evil.example')
    expect([refused.ok, refused.headers.get('access-control-allow-origin')], path).toEqual([false, null])
  }
  expect([...modules]).toEqual(expect.arrayContaining(['auth', 'catalog', 'cart']))
  const proofs = ['x-guest-cart-token', 'x-checkout-token', 'x-order-token']
  expect([...sent]).toEqual(expect.arrayContaining(['idempotency-key', 'if-match', 'x-market', ...proofs]))
})

test('a page of another origin that CORS allows fills a cart and reads the response headers that it needs', async () => {
  const { items } = await bodyOf(await ask('/api/products', { origin: SHOP }))
  const { variants } = await bodyOf(await ask(`/api/products/${items[0].slug}`, { origin: SHOP }))
  const json = { origin: SHOP, 'content-type': 'application/json' }
  const line = { variant_id: variants[0].id, quantity: 2 }
  const key = { 'idempotency-key': crypto.randomUUID() }
  const first = await ask('/api/guest-cart', { ...json, ...key }, 'POST', line)
  const { guest_cart_token, version } = await bodyOf(first)
  expect(first.status).toBe(201)
  const cart = await ask('/api/guest-cart', { origin: SHOP, 'x-guest-cart-token': guest_cart_token })
  expect(cart.headers.get('etag')).toBe(`"${version}"`)
  for (const { headers } of [first, cart]) {
    expect(headers.get('access-control-allow-origin')).toBe(SHOP)
    expect(headers.get('access-control-expose-headers')).toContain('ETag')
    expect(headers.get('vary')).toMatch(/x-guest-cart-token.*origin/i)
  }
})

test('a page of another origin that CORS allows places an order without an account', async () => {
  const variants = [{ sku: 'PDF', price: 500, requires_shipping: false }]
  const pattern = await made('/api/catalog/products', { name: 'Pattern', status: 'active', variants })
  const items = [{ variant_id: pattern.variants[0].id, quantity: 1 }]
  const json = { origin: SHOP, 'content-type': 'application/json' }
  const readable = ({ headers }: Response) => {
    expect(headers.get('access-control-allow-origin')).toBe(SHOP)
    expect(headers.get('access-control-expose-headers')).toMatch(/ETag.*Retry-After/)
    return headers.get('etag')
  }

  const begun = await ask('/api/checkouts/guest', json, 'POST', { items })
  const { id, checkout_token } = await bodyOf(begun)
  expect([begun.status, readable(begun)]).toEqual([201, '"1"'])
  const path = `/api/checkouts/guest/${id}`
  const proved = { ...json, 'x-checkout-token': checkout_token }
  const body = { items, email: 'ada@example.com', billing_address: { country: 'SE' } }
  const put = await ask(
    path,
    { ...proved, 'if-match': '"1"', 'idempotency-key': crypto.randomUUID() },
    'PUT',
    body
  )
  expect([put.status, readable(put)]).toEqual([200, '"2"'])
  const stale = await ask(path, { ...proved, 'if-match': '"1"' }, 'PUT', body)
  expect([stale.status, readable(stale)]).toEqual([412, null])
  const read = await ask(path, { origin: SHOP, 'x-checkout-token': checkout_token })
  expect([read.status, readable(read), (await bodyOf(read)).total]).toEqual([200, '"2"', 500])
  const denied = await ask(path, { origin: SHOP })
  expect([denied.status, readable(denied)]).toEqual([404, null])

  const ordered = await ask('/api/orders/guest', json, 'POST', { items, email: 'ada@example.com' })
  const { id: orderId, order_token } = await bodyOf(ordered)
  expect([ordered.status, readable(ordered)]).toEqual([201, '"1"'])
  const order = await ask(`/api/orders/guest/${orderId}`, { origin: SHOP, 'x-order-token': order_token })
  expect([order.status, readable(order), (await bodyOf(order)).total]).toEqual([200, '"1"', 500])
})
