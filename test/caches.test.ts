import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createWebhookSigningSecret, signWebhook } from '../src/modules/webhooks/signatures/sign.ts'
import { until } from './faults/until.ts'
import { createTestApp, type TestApp } from './support/app.ts'
import { SECRET_SETTINGS } from './support/secrets.ts'
import { hasVarnish, isHit, startVarnish } from './support/varnish.ts'
import { useReceiver } from './support/webhook-receiver.ts'

const PASSWORD = 'nine lives and a piano'
const BOSS = { email: 'boss@example.com', password: PASSWORD }
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const guide = await readFile(`${ROOT}docs/cdn.md`, 'utf8')
const codeOf = (language: string) =>
  new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'ms').exec(guide)?.[1] ?? ''
/** The only pages that a shared cache may send without asking the shop. */
const SHARED = ['/api/products', '/api/products/{id}', '/api/categories', '/api/categories/{id}']
/** Public keys, which any cache may store. */
const JWKS = '/.well-known/jwks.json'
const PRICES = { default: 900, uk: 700, ch: 1_100 }

type Operations = Record<string, Record<string, unknown>>
type Priced = { price: number | null }
type Product = { id: string; slug: string; variants: { id: string }[] }
type Varnish = Awaited<ReturnType<typeof startVarnish>>

let app: TestApp
let token: string
let varnish: Varnish
/** A product with a price in three markets. */
let mug: Product

async function made(method: string, path: string, body: object) {
  const { status, json, text } = await app.request(method, path, { token, body })
  expect(status, text).toBeLessThan(300)
  return json
}
const createProduct = (name: string, price: number): Promise<Product> =>
  made('POST', '/api/catalog/products', { name, variants: [{ sku: randomUUID(), price }], tags: [name] })

beforeAll(async () => {
  app = await createTestApp({
    ...SECRET_SETTINGS,
    CARTWRIGHT_ADMIN_EMAIL: BOSS.email,
    CARTWRIGHT_ADMIN_PASSWORD: BOSS.password,
    CARTWRIGHT__HTTP__PRIVATE_HOSTS: '["127.0.0.1"]',
    CARTWRIGHT__CATALOG__SHARED_CACHE_SECONDS: '600'
  })
  await app.app.listen({ port: 0, host: '127.0.0.1' })
  token = (await app.request('POST', '/api/auth/login', { body: BOSS })).json.access_token
  mug = await createProduct('mug', PRICES.default)
  for (const [code, currency] of [
    ['uk', 'GBP'],
    ['ch', 'CHF']
  ] as const) {
    const { id } = await made('POST', '/api/admin/price-lists', { name: code, currency })
    const price = { variant_id: mug.variants[0]?.id, price: PRICES[code] }
    await made('PUT', `/api/admin/price-lists/${id}/prices`, { prices: [price] })
    const market = { code, name: code, countries: [], currency, price_list_id: id }
    await made('POST', '/api/admin/markets', { ...market, prices_include_tax: true, locale: 'en' })
  }
  await until('lists have the prices of markets', async () => {
    const shown = Object.keys(PRICES).map(code => app.request('GET', `/api/products?market=${code}&tag=mug`))
    return (await Promise.all(shown)).every(({ json }) => json.items[0].price !== null)
  })
  if (hasVarnish) varnish = await startVarnish((app.app.server.address() as AddressInfo).port, codeOf('vcl'))
})
afterAll(async () => {
  if (hasVarnish) await varnish.close()
  await app.close()
})

async function useCallers() {
  const tokenOf = async (email: string) =>
    (await app.request('POST', '/api/auth/register', { body: { email, password: PASSWORD } })).json
      .access_token
  const guest = async () => {
    const body = { variant_id: mug.variants[0]?.id, quantity: 1 }
    const { guest_cart_token } = (await app.request('POST', '/api/guest-cart', { body })).json
    return { 'x-guest-cart-token': guest_cart_token }
  }
  return Object.entries({
    admin: { authorization: `Bearer ${token}` },
    ada: { authorization: `Bearer ${await tokenOf('ada@example.com')}` },
    bob: { authorization: `Bearer ${await tokenOf('bob@example.com')}` },
    'a guest': await guest(),
    'another guest': await guest(),
    anonymous: {},
    'anonymous in another market': { 'x-market': 'uk' },
    'anonymous in another language': { 'accept-language': 'de' },
    'anonymous with a cookie': { cookie: 'visit=1' }
  }) as [string, Record<string, string>][]
}

test.skipIf(!hasVarnish)(
  'behind a shared cache only pages of the catalog are hits, and no caller gets the response of another',
  async () => {
    const callers = await useCallers()
    const { paths } = (await app.request('GET', '/openapi.json')).json as { paths: Operations }
    const urls = Object.entries(paths).flatMap(([path, methods]) => ('get' in methods ? [path] : []))
    expect(urls).toEqual(expect.arrayContaining(SHARED))
    const others = ['/healthz', '/readyz', '/metrics', '/metricsz', `/api/cart/${randomUUID()}`]
    const anonymous = callers.filter(([name]) => name === 'anonymous')
    const wrong: string[] = []
    const hits = new Set<string>()
    for (const path of new Set([...urls, ...others])) {
      const url = path.replace(/\{\w+\}/g, mug.id)
      // `/metrics` takes a second.
      const asking = path.startsWith('/api/') ? callers : anonymous
      for (const [name, headers] of [...asking, ...asking.toReversed()]) {
        const id = randomUUID()
        const answer = await fetch(varnish.origin + url, { headers: { ...headers, 'x-request-id': id } })
        const text = await answer.text()
        const where = `${path} for ${name}`
        if (answer.headers.has('surrogate-key')) wrong.push(`${where}: shows its keys`)
        // The shop repeats the id of the request that it answers.
        if (!isHit(answer) && answer.headers.get('cache-control')?.startsWith('public') !== true) {
          if (answer.headers.get('x-request-id') !== id) wrong.push(`${where}: another's response`)
        }
        if (!isHit(answer)) continue
        hits.add(where)
        const own = await app.request('GET', url, { headers })
        if (![...SHARED, JWKS].includes(path) || own.text !== text) wrong.push(`${where}: a wrong hit`)
      }
    }
    expect(wrong).toEqual([])
    expect([...hits]).toEqual(
      expect.arrayContaining([
        '/api/products for anonymous with a cookie',
        '/api/products/{id} for a guest',
        '/api/categories for anonymous in another language'
      ])
    )
  }
)

test.skipIf(!hasVarnish)('behind a shared cache each market has its own product pages', async () => {
  let hits = 0
  const shownIn = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(varnish.origin + path, { headers })
    if (isHit(answer)) hits += 1
    const shown = (await answer.json()) as { items?: Priced[]; variants?: Priced[] }
    return (shown.items ?? shown.variants)?.[0]?.price
  }
  const markets = Object.entries(PRICES)
  for (const path of [
    `/api/products/${mug.slug}?`,
    '/api/products?tag=mug&limit=7',
    '/api/products?tag=mug&sort=price'
  ])
    for (const [code, price] of [...markets, ...markets.toReversed(), ...markets]) {
      expect(await shownIn(path, { 'x-market': code })).toBe(price)
      expect(await shownIn(`${path}&market=${code}`)).toBe(price)
      expect(await shownIn(path)).toBe(PRICES.default)
    }
  // Of 81 responses, 21 differ: each is fetched once, or again when a late message about a change arrives.
  expect(hits).toBeGreaterThan(50)
})

/** Runs the receiver of the guide. Returns its origin. */
async function startGuideReceiver(cache: string, secret: string): Promise<string> {
  const code = codeOf('js')
    .replace('http://127.0.0.1:6082', cache)
    .replace('.listen(3000)', '.listen(0, function () { console.log(this.address().port) })')
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    cwd: ROOT,
    env: { WEBHOOK_SECRET: secret },
    stdio: ['ignore', 'pipe', 'ignore']
  })
  onTestFinished(() => void child.kill())
  const [port] = await once(child.stdout, 'data')
  return `http://127.0.0.1:${Number(port)}`
}

test.skipIf(!hasVarnish)(
  'a changed price and category are visible through a shared cache within two seconds',
  async () => {
    const receiver = await useReceiver()
    const event_types = ['catalog.changed', 'catalog.product_changed']
    const { secret } = await made('POST', '/api/admin/webhooks/endpoints', { url: receiver.url, event_types })
    const origin = await startGuideReceiver(varnish.purgeOrigin, secret)
    receiver.at('/hooks', async (response, { headers }) => {
      const { body } = receiver.received.at(-1) as { body: string }
      const named = Object.entries(headers).filter(([name]) => name.startsWith('webhook-'))
      const { status } = await fetch(origin, {
        method: 'POST',
        body,
        headers: Object.fromEntries(named) as Record<string, string>
      })
      response.writeHead(status).end()
    })
    const cup = await createProduct('cup', 500)
    const category = await made('POST', '/api/catalog/categories', { name: 'Cups' })
    const pages = [
      `/api/products/${cup.id}`,
      `/api/products/${cup.slug}`,
      '/api/products?tag=cup',
      `/api/categories/${category.id}`
    ]
    const read = async (path: string) => {
      const answer = await fetch(varnish.origin + path)
      return { text: await answer.text(), isHit: isHit(answer) }
    }
    // The second purges of the changes above are over when nothing is fetched from the shop for a while.
    for (const page of pages) await until(`${page} is a hit`, async () => (await read(page)).isHit)
    await made('PATCH', `/api/catalog/variants/${cup.variants[0]?.id}`, { price: 650 })
    await made('PATCH', `/api/catalog/categories/${category.id}`, { name: 'Mugs' })
    const changedAt = performance.now()
    for (const page of pages)
      await until(`${page} is new`, async () => /650|Mugs/.test((await read(page)).text), 2_000)
    expect(performance.now() - changedAt).toBeLessThan(2_000)
  }
)

test('the receiver in docs/cdn.md purges twice, and lets a webhook be sent again when the cache fails', async () => {
  const purged: string[] = []
  let status = 500
  const cache = createServer((request, response) => {
    if (status === 204) purged.push(`${request.method} ${request.headers['surrogate-key']}`)
    response.writeHead(status).end()
  })
  await once(cache.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void cache.close())
  const secret = createWebhookSigningSecret()
  const origin = await startGuideReceiver(`http://127.0.0.1:${(cache.address() as AddressInfo).port}`, secret)
  const send = async (event: object, signedWith = secret) => {
    const body = JSON.stringify(event)
    const timestampSeconds = Math.floor(Date.now() / 1_000)
    const headers = {
      'webhook-id': 'one',
      'webhook-timestamp': String(timestampSeconds),
      'webhook-signature': signWebhook([signedWith], { id: 'one', timestampSeconds, body })
    }
    return (await fetch(origin, { method: 'POST', body, headers })).status
  }
  const changed = { type: 'catalog.product_changed', data: { product_id: 'a1' } }
  expect(await send(changed, createWebhookSigningSecret())).toBe(401)
  expect(await send(changed)).toBe(502)
  status = 204
  const sentAt = performance.now()
  expect(await send(changed)).toBe(204)
  const keys = ['PURGE product-a1', 'PURGE catalog-list']
  expect(purged).toEqual(keys)
  await until('it purges again', () => purged.length === 4)
  expect(purged).toEqual([...keys, ...keys])
  expect(performance.now() - sentAt).toBeGreaterThan(1_900)
  expect(await send({ type: 'catalog.changed', data: {} })).toBe(204)
  expect(await send({ type: 'webhook.test', data: {} })).toBe(204)
  expect(purged.slice(4)).toEqual(['PURGE catalog'])
})
