import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestApp, type RequestOptions, type TestApp, type TestResponse } from './support/app.ts'
import {
  type Body,
  type Caller,
  COLLECTIONS,
  cursorKind,
  type GeneratedRequest,
  OWN_COLLECTIONS,
  requestsFor,
  resolveMarkers
} from './support/generate.ts'
import { resolveReferences } from './support/references.ts'

// `FUZZ=20000 npx vitest run test/fuzz.test.ts` tries that many, others each time, and prints what was answered.
const { FUZZ } = process.env
const RUNS = Number(FUZZ ?? 1_500)
const SEED = Number(process.env.FUZZ_SEED ?? (FUZZ === undefined ? 1 : Date.now()))
const PASSWORD = 'nine lives and a piano'
const accounts = {
  admin: { email: 'boss@example.com', password: PASSWORD },
  customer: { email: 'customer@example.com', password: PASSWORD }
}
/** The refusals of a shop that has too much to do: right in themselves, and counted. */
const BUSY = new Set(['OVERLOADED', 'AUTH_BUSY', 'DATABASE_BUSY'])
const POOL_MAX = 50
/** What would take away the accounts that ask, or all that they could ask for. */
const ENDS_ALL = new Set(['/api/auth/me/delete', '/api/admin/maintenance'])

let app: TestApp
const tokens = new Map<Caller, string>()
const pool = new Map<string, string[]>()
const answers = new Map<string, number>()
/** The statuses that the document names, by operation. */
const named = new Map<string, Set<string>>()
/** Statuses that operations answered, and their document does not name. */
const unnamed = new Set<string>()
/** What any route may answer to a malformed URL or header: `default` of the document. */
const OF_EVERY_ROUTE = new Set([400, 403, 412, 413, 414, 415, 422, 431])

beforeAll(async () => {
  app = await createTestApp({
    CARTWRIGHT_ADMIN_EMAIL: accounts.admin.email,
    CARTWRIGHT_ADMIN_PASSWORD: PASSWORD,
    CARTWRIGHT__PAYMENTS__DEFAULT_PROVIDER: 'manual'
  })
  await created('/api/auth/register', undefined, accounts.customer)
  await logIn('admin')
  await logIn('customer')
  await addUser()
  await stockUp()
  await beginCheckouts()
  await beginOrders()
  await beginAccount()
})
afterAll(() => app.close())

const tokenOf = (caller: Caller | undefined) => {
  const token = caller && tokens.get(caller)
  return token === undefined ? {} : { token }
}
const count = (key: string) => answers.set(key, (answers.get(key) ?? 0) + 1)

async function created(url: string, caller: Caller | undefined, body: unknown) {
  const response = await app.request('POST', url, { ...tokenOf(caller), body })
  expect(response.status, `${url}: ${response.text}`).toBeLessThan(300)
  return response.json
}

async function logIn(caller: 'admin' | 'customer'): Promise<void> {
  const { access_token, refresh_token } = await created('/api/auth/login', undefined, accounts[caller])
  tokens.set(caller, access_token)
  remember('refresh', refresh_token)
  const sessions = await app.request('GET', '/api/auth/sessions', { token: access_token })
  for (const { id } of sessions.json.items) remember('session', id)
}

/** Creates one resource of every kind for the requests to find, and replaces those that were deleted. */
async function stockUp(deleted = ''): Promise<void> {
  const stamp = `${Date.now().toString(36)}${pool.get('product')?.length ?? 0}`
  const category = await created('/api/catalog/categories', 'admin', { name: `Kitchen ${stamp}` })
  remember('category', category.id)
  const product = await created('/api/catalog/products', 'admin', {
    name: `Mug ${stamp}`,
    status: 'active',
    category_ids: [category.id],
    variants: [{ sku: `MUG-${stamp}`, price: 1_000 }]
  })
  rememberProduct(product)
  const target = { scope: 'product', target_id: product.id }
  const discount = { name: 'Less', percentage_ppm: 100_000, ...target }
  remember('discount', (await created('/api/catalog/discounts', 'admin', discount)).id)
  // There are limits to how many.
  for (const [path, body] of Object.entries(collectionsOf(stamp)))
    if (!pool.has(path) || deleted.startsWith(path)) remember(path, (await created(path, 'admin', body)).id)
  const promotion = lookUp('/api/admin/promotions', 0)
  const code = { code: `CODE-${stamp}` }
  remember('promotion-code', (await created(`/api/admin/promotions/${promotion}/codes`, 'admin', code)).id)
  const line = { variant_id: product.variants[0].id, quantity: 1 }
  remember('guest', (await created('/api/guest-cart', undefined, line)).guest_cart_token)
}

/** A customer whom administrators may change and delete, and who sends no requests. */
async function addUser(): Promise<void> {
  const account = { email: `user${crypto.randomUUID()}@example.com`, password: PASSWORD }
  remember('user', (await created('/api/auth/register', undefined, account)).user.id)
}

/** A customer's, and one of a guest: the only one, so that its id and its token come together. */
async function beginCheckouts(): Promise<void> {
  const body = { items: [{ variant_id: lookUp('variant', 0), quantity: 1 }] }
  remember('checkout', (await created('/api/checkouts', 'customer', body)).id)
  const { id, checkout_token } = await created('/api/checkouts/guest', undefined, body)
  remember('guest-checkout', id)
  remember('checkout-token', checkout_token)
}

const ADDRESS = { name: 'Ada', line1: 'Road 1', city: 'Berlin', postal_code: '10115', country: 'DE' }

/** What customers say of themselves, and of a product. */
async function beginAccount(): Promise<void> {
  remember('/api/auth/addresses', (await created('/api/auth/addresses', 'customer', { address: ADDRESS })).id)
  const { id } = await created(`/api/products/${lookUp('product', 0)}/reviews`, 'customer', { rating: 5 })
  remember('review', id)
}

/** Orders: two of the customer's, one of which is being paid, and one of a guest, so that its id and its token come together. */
async function beginOrders(): Promise<void> {
  const product = await created('/api/catalog/products', 'admin', {
    name: 'Song',
    status: 'active',
    variants: [{ sku: 'SONG', price: 1_000, requires_shipping: false }]
  })
  const body = { items: [{ variant_id: product.variants[0].id, quantity: 3 }] }
  const own = async () => (await created('/api/orders', 'customer', body)).id
  const paid = await own()
  remember('payment', (await created('/api/payments/intent', 'customer', { order_id: paid })).id)
  for (const id of [paid, await own()]) remember('order', id)
  const guests = await created('/api/orders/guest', undefined, { ...body, email: 'guest@example.com' })
  remember('guest-order', guests.id)
  remember('order-token', guests.order_token)
}

/** One of each that administrators keep, unlike all others. */
const collectionsOf = (stamp: string) => ({
  '/api/admin/markets': {
    code: `m-${stamp}`,
    name: 'Market',
    countries: [],
    currency: 'EUR',
    prices_include_tax: true,
    locale: 'de'
  },
  '/api/admin/price-lists': { name: 'List', currency: 'EUR' },
  '/api/admin/promotions': {
    name: 'Off',
    class: 'line',
    needs_code: true,
    effect: { type: 'percentage', percentage_ppm: 100_000 }
  },
  '/api/admin/taxes/categories': { code: `t${stamp}`, name: 'Category' },
  '/api/admin/taxes/zones': { name: 'Zone', country: 'DE', postal_pattern: stamp.toUpperCase() },
  '/api/admin/shipping/methods': { kind: 'pickup', service: 'Pick up' },
  '/api/admin/shipping/carriers': { code: `c${stamp}`, name: `Carrier ${stamp}` },
  '/api/admin/shipping/zones': {
    name: 'Zone',
    areas: [{ country: 'DE', postal_code: stamp.slice(-9) }]
  }
})

function remember(kind: string, value: unknown): void {
  if (typeof value !== 'string') return
  const values = pool.get(kind) ?? []
  pool.set(kind, [value, ...values].slice(0, POOL_MAX))
}

function rememberProduct(product: {
  id: string
  slug: string
  variants: { id: string; sku: string }[]
}): void {
  remember('product', product.id)
  remember('slug', product.slug)
  for (const { id, sku } of product.variants) {
    remember('variant', id)
    remember('sku', sku)
  }
}

/** Ids and tokens of answers, which later requests ask for. */
function learn(path: string, { json }: TestResponse): void {
  if (json === null) return
  remember(cursorKind(path), json.next_cursor)
  remember('guest', json.guest_cart_token)
  remember('refresh', json.refresh_token)
  if (path === '/api/catalog/products' && json.variants) rememberProduct(json)
  if (path === '/api/catalog/products/{id}/variants') remember('variant', json.id)
  if (path === '/api/catalog/categories') remember('category', json.id)
  if (path === '/api/catalog/discounts') remember('discount', json.id)
  if ([...COLLECTIONS, ...OWN_COLLECTIONS].includes(path)) remember(path, json.id)
  if (path === '/api/products/{id}/reviews') remember('review', json.id)
  if (path === '/api/auth/api-keys') remember('api-key', json.api_key)
  if (path === '/api/admin/promotions/{id}/codes') remember('promotion-code', json.id)
  if (path === '/api/payments/intent') remember('payment', json.id)
  if (path === '/api/orders') remember('order', json.id)
  if (path === '/api/checkouts') remember('checkout', json.id)
  if (path === '/api/auth/invitations') {
    remember('invitation', json.id)
    remember('code', json.code)
  }
}

const lookUp = (kind: string, index: number) => {
  const values = pool.get(kind) ?? []
  return values[index % Math.max(values.length, 1)] ?? 'nothing'
}

const inUrl = (value: unknown) => {
  const written = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  // A lone surrogate has no UTF-8; these are the bytes that careless programs send for it.
  return written.isWellFormed() ? encodeURIComponent(written) : '%ED%A0%80'
}
const payloadOf = (body: Body) => ('bytes' in body ? body.bytes : (JSON.stringify(body.json) ?? ''))

function toHttp(request: GeneratedRequest): { url: string; options: RequestOptions } {
  const { parameters, query, headers, body } = resolveMarkers(request, lookUp)
  const path = parameters.reduce(
    (url, { name, value }) => url.replace(`{${name}}`, () => inUrl(value)),
    request.path
  )
  const search = query.map(([name, value]) => `${inUrl(name)}=${inUrl(value)}`).join('&')
  return {
    url: search === '' ? path : `${path}?${search}`,
    options: {
      ...tokenOf(request.caller),
      headers: body === undefined ? headers : { 'content-type': body.type, ...headers },
      ...(body && { body: payloadOf(body) })
    }
  }
}

function checkAnswer(response: TestResponse, sent: string): void {
  const { status, json, headers } = response
  if (status >= 500) {
    expect(status, `${sent}\n${response.text}`).toBe(503)
    expect(BUSY, `${sent}\n${response.text}`).toContain(json?.code)
    count(`503 ${json.code}`)
  }
  if (status < 400) return
  expect(String(headers['content-type']), sent).toMatch(/^application\/problem\+json/)
  expect(json, sent).toMatchObject({
    type: expect.any(String),
    title: expect.any(String),
    status,
    detail: expect.any(String),
    code: expect.stringMatching(/^[A-Z_]+$/),
    // A replayed answer has the id of the request that it was made for.
    request_id: headers['idempotency-replayed'] ? expect.any(String) : headers['x-request-id']
  })
}

async function checkHead(
  url: string,
  options: RequestOptions,
  got: TestResponse,
  sent: string
): Promise<void> {
  const head = await app.request('HEAD', url, options)
  expect(head.text, sent).toBe('')
  const mirrored = ({ status, headers }: TestResponse) => [status, headers['content-type'], headers.etag]
  expect(mirrored(head), `HEAD of ${sent}`).toEqual(mirrored(got))
}

async function sendAndCheck(request: GeneratedRequest): Promise<void> {
  const { url, options } = toHttp(request)
  const { headers, body } = options
  const content = String(body ?? '').slice(0, 2_000)
  const sent = `${request.method} ${url} as ${request.caller} ${JSON.stringify(headers)}\n${content}`
  const response = await app.request(request.method, url, options)
  count(`${request.method} ${request.path} ${Math.floor(response.status / 100)}xx`)
  const operation = `${request.method} ${request.path}`
  const isNamed = named.get(operation)?.has(String(response.status)) === true
  if (!isNamed && !OF_EVERY_ROUTE.has(response.status)) unnamed.add(`${operation} ${response.status}`)
  checkAnswer(response, sent)
  if (request.method === 'GET') await checkHead(url, options, response, sent)
  if (response.status < 300) learn(request.path, response)
  if (response.status < 300 && request.path === '/api/auth/password' && request.caller in accounts)
    accounts[request.caller as keyof typeof accounts].password = JSON.parse(content).new_password
  await repair(request, response)
}

/** Logs callers in again and replaces deleted resources, because later requests would all be refused otherwise. */
async function repair(
  { method, path, headers, caller }: GeneratedRequest,
  { status }: TestResponse
): Promise<void> {
  if (status === 401 && caller !== 'anonymous' && headers.authorization === undefined) {
    const me = await app.request('GET', '/api/auth/me', tokenOf(caller))
    if (me.status === 401) await logIn(caller)
  }
  if (method !== 'DELETE' || status >= 300) return
  const admin = await app.request('GET', '/api/auth/me', tokenOf('admin'))
  if (admin.status === 401) await logIn('admin')
  if (path === '/api/admin/users/{id}') await addUser()
  await stockUp(path)
}

test(`${RUNS} generated requests, valid and invalid, cause no server error`, {
  timeout: 180_000 + RUNS * 60
}, async () => {
  const { json } = await app.request('GET', '/openapi.json')
  const paths = resolveReferences<Record<string, Record<string, object>>>(json.paths, json.components.schemas)
  for (const [path, methods] of Object.entries(paths))
    for (const [method, { responses = {} }] of Object.entries<{ responses?: object }>(methods))
      named.set(`${method.toUpperCase()} ${path}`, new Set(Object.keys(responses)))
  const operations = Object.entries(paths)
    .filter(([path]) => !ENDS_ALL.has(path))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => requestsFor(method, path, operation))
    )
  const property = fc.asyncProperty(fc.oneof(...operations), sendAndCheck)
  await fc.assert(property, { numRuns: RUNS, seed: SEED })
  const reached = [...answers.keys()].filter(key => key.endsWith('2xx')).length
  if (FUZZ !== undefined) console.table(Object.fromEntries([...answers].sort()))
  expect([...unnamed]).toEqual([])
  // test/contract performs each operation; here many have to be reached, so that the requests mean something.
  expect(reached, 'operations that succeeded').toBeGreaterThan(
    operations.length * (FUZZ === undefined ? 0.3 : 0.5)
  )
})
