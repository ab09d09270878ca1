import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { until } from './faults/until.ts'
import { createTestApp } from './support/app.ts'
import { freePort } from './support/free-port.ts'

// Debian's varnish as it is installed; the suite goes without it where there is none (apt-get install varnish).
const hasVarnish = spawnSync('varnishd', ['-V']).status === 0
const PASSWORD = 'nine lives and a piano'

/** A cache in front of a server, as it is installed, or with rules of its own in VCL. Answers its address. */
async function useVarnish(port: number, rules?: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-varnish-'))
  // It works as a user of its own, who has to get in.
  await chmod(folder, 0o755)
  const cachePort = await freePort()
  const address = `http://127.0.0.1:${cachePort}`
  const options = [
    '-F',
    '-n',
    folder,
    '-a',
    `127.0.0.1:${cachePort}`,
    ...(rules === undefined ? ['-b', `127.0.0.1:${port}`] : ['-f', join(folder, 'rules.vcl')]),
    '-s',
    'malloc,16m',
    // A connection that it closes while a request is sent over it fails that request.
    '-p',
    'timeout_idle=3600'
  ]
  const backend = `backend default { .host = "127.0.0.1"; .port = "${port}"; }`
  await writeFile(join(folder, 'rules.vcl'), `vcl 4.1;\n${backend}\n${rules ?? ''}\n`)
  const varnish = spawn('varnishd', options, { stdio: 'ignore' })
  const ended = once(varnish, 'close')
  onTestFinished(async () => {
    varnish.kill('SIGTERM')
    await ended
    await rm(folder, { recursive: true, force: true })
  })
  await until(
    'the cache responds',
    async () => (await fetch(`${address}/healthz`).catch(() => undefined)) !== undefined
  )
  return address
}

type Operations = Record<string, Record<string, unknown>>
type Priced = { price: number | null }
type Caller = { name: string; headers: Record<string, string> }

test.skipIf(!hasVarnish)(
  'behind a shared cache with default settings, no caller gets the response of another',
  async () => {
    const app = await createTestApp({
      CARTWRIGHT_ADMIN_EMAIL: 'boss@example.com',
      CARTWRIGHT_ADMIN_PASSWORD: PASSWORD
    })
    onTestFinished(() => app.close())
    await app.app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = app.app.server.address() as AddressInfo
    const cache = await useVarnish(port)

    const tokenFrom = async (route: string, email: string) =>
      (await app.request('POST', `/api/auth/${route}`, { body: { email, password: PASSWORD } })).json
        .access_token
    const admin = await tokenFrom('login', 'boss@example.com')
    const product = { name: 'Mug', variants: [{ sku: 'MUG', price: 900 }] }
    const { json } = await app.request('POST', '/api/catalog/products', { token: admin, body: product })
    const line = { variant_id: json.variants[0].id, quantity: 1 }
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
    const guest = async () => {
      const { guest_cart_token } = (await app.request('POST', '/api/guest-cart', { body: line })).json
      return { 'x-guest-cart-token': guest_cart_token }
    }
    const callers: Caller[] = [
      { name: 'admin', headers: bearer(admin) },
      { name: 'ada', headers: bearer(await tokenFrom('register', 'ada@example.com')) },
      { name: 'bob', headers: bearer(await tokenFrom('register', 'bob@example.com')) },
      { name: 'a guest', headers: await guest() },
      { name: 'another guest', headers: await guest() },
      { name: 'anonymous', headers: {} }
    ]

    const { paths } = (await app.request('GET', '/openapi.json')).json as { paths: Operations }
    const urls = Object.entries(paths)
      .filter(([, methods]) => 'get' in methods)
      .map(([path]) => path.replace(/\{\w+\}/g, json.id))
    expect(urls.length).toBeGreaterThan(10)
    const wrong: string[] = []
    for (const url of [
      ...urls,
      '/healthz',
      '/readyz',
      '/metrics',
      '/metricsz',
      `/api/cart/${randomUUID()}`
    ]) {
      for (const { name, headers } of [...callers, ...callers.toReversed()]) {
        const id = randomUUID()
        const answer = await fetch(cache + url, { headers: { ...headers, 'x-request-id': id } })
        await answer.arrayBuffer()
        const mayBeKept = answer.headers.get('cache-control')?.startsWith('public') === true
        // What was made for this very request names it. An answer that was kept names the one it was made for.
        if (!mayBeKept && answer.headers.get('x-request-id') !== id) wrong.push(`${url} for ${name}`)
      }
    }
    expect(wrong).toEqual([])
  }
)

/** What a CDN is told by a shop that lets it be a minute behind. */
const KEEP_PUBLIC = `
sub vcl_backend_response {
  if (beresp.http.cache-control ~ "public") {
    set beresp.ttl = 1m;
    return (deliver);
  }
}`

test.skipIf(!hasVarnish)(
  'behind a cache that stores as much as it may, each market has its own product pages',
  async () => {
    const app = await createTestApp({
      CARTWRIGHT_ADMIN_EMAIL: 'boss@example.com',
      CARTWRIGHT_ADMIN_PASSWORD: PASSWORD
    })
    onTestFinished(() => app.close())
    await app.app.listen({ port: 0, host: '127.0.0.1' })
    const cache = await useVarnish((app.app.server.address() as AddressInfo).port, KEEP_PUBLIC)
    const login = { email: 'boss@example.com', password: PASSWORD }
    const token = (await app.request('POST', '/api/auth/login', { body: login })).json.access_token
    const made = async (method: string, path: string, body: object) => {
      const { status, json, text } = await app.request(method, path, { token, body })
      expect(status, text).toBeLessThan(300)
      return json
    }
    const variants = [{ sku: 'MUG', price: 900 }]
    const product = await made('POST', '/api/catalog/products', { name: 'Mug', variants })
    const prices = { default: 900, uk: 700, ch: 1_100 }
    for (const [code, currency] of [
      ['uk', 'GBP'],
      ['ch', 'CHF']
    ] as const) {
      const { id } = await made('POST', '/api/admin/price-lists', { name: code, currency })
      const price = { variant_id: product.variants[0].id, price: prices[code] }
      await made('PUT', `/api/admin/price-lists/${id}/prices`, { prices: [price] })
      const market = { code, name: code, countries: [], currency, price_list_id: id }
      await made('POST', '/api/admin/markets', { ...market, prices_include_tax: true, locale: 'en' })
    }
    // Asked behind the back of the cache, which would keep what they show until then.
    await until('lists have the prices of markets', async () => {
      const shown = Object.keys(prices).map(code => app.request('GET', `/api/products?market=${code}`))
      return (await Promise.all(shown)).every(({ json }) => json.items[0].price !== null)
    })

    let kept = 0
    const shownIn = async (path: string, headers: Record<string, string> = {}) => {
      const answer = await fetch(cache + path, { headers })
      // Of an answer that it had kept, varnish names two requests.
      if (answer.headers.get('x-varnish')?.includes(' ')) kept += 1
      const shown = (await answer.json()) as { items?: Priced[]; variants?: Priced[] }
      return (shown.items ?? shown.variants)?.[0]?.price
    }
    const markets = Object.entries(prices)
    for (const path of [`/api/products/${product.id}`, '/api/products', '/api/products?sort=price'])
      for (const [code, price] of [...markets, ...markets.toReversed(), ...markets]) {
        expect(await shownIn(path, { 'x-market': code })).toBe(price)
        expect(await shownIn(`${path}${path.includes('?') ? '&' : '?'}market=${code}`)).toBe(price)
        expect(await shownIn(path)).toBe(prices.default)
      }
    // Of 81 answers each of the 21 that differ was asked for once.
    expect(kept).toBe(60)
  }
)
