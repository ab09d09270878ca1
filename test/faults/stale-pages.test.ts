import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { cartModule } from '../../src/modules/cart/index.ts'
import { catalogModule } from '../../src/modules/catalog/index.ts'
import { pricingModule } from '../../src/modules/pricing/index.ts'
import { admin, openTestShop, type TestShop } from '../../src/testing.ts'
import { createCategory, createProduct } from '../support/catalog.ts'
import { startHaproxyOrStandIn } from '../support/haproxy.ts'
import { createHttpClient } from '../support/http-client.ts'
import { startProgram } from '../support/program.ts'
import { usePrimaryAndStandby } from '../support/standby.ts'
import { useProxiedDatabase } from './postgres-proxy.ts'
import { until } from './until.ts'

/** The deadline of browsing, and a second for a busy machine. */
const FIRST_MS_MAX = 2_000 + 1_000
/** Well below every time limit of the database. */
const PROMPT_MS_MAX = 250
/** The first fresh page after the return of the database. The rest is for a busy machine. */
const RETURN_MS_MAX = 1_000 + 20_000
/** Rounds of a visitor, which last longer than a ping of the database may take, or two checks of the balancer. */
const ROUNDS = 35
const PAUSE_MS = 100
const STALE = '110 - "Response is Stale"'

async function openShop(databaseUrl: string): Promise<TestShop> {
  const shop = await openTestShop({
    databaseUrl: `${databaseUrl}${databaseUrl.includes('?') ? '&' : '?'}connect_timeout=3`,
    modules: [pricingModule, catalogModule, cartModule],
    settings: {
      CARTWRIGHT__DATABASE__POOL_WAIT_MS: '500',
      CARTWRIGHT__DATABASE__STATEMENT_TIMEOUT_MS: '5000',
      CARTWRIGHT__LOG__LEVEL: 'silent'
    }
  })
  onTestFinished(shop.close)
  return shop
}

/** A shop with pages that were read, and some that were not. */
async function useBrowsedShop(databaseUrl: string) {
  const shop = await openShop(databaseUrl)
  const category = await createCategory(shop, 'Mugs')
  const [product, unread] = [
    await createProduct(shop, { name: 'Cup', category_ids: [category.id] }),
    await createProduct(shop)
  ]
  const read = async (path: string, options = {}) => {
    const startedAt = performance.now()
    const { status, headers, json } = await shop.request('GET', path, options)
    return { status, headers, json, ms: performance.now() - startedAt, isStale: headers.warning === STALE }
  }
  const { json: first } = await read('/api/products?limit=1')
  const pages = [
    '/api/products',
    '/api/products?limit=1',
    `/api/products?limit=1&cursor=${first.next_cursor}`,
    `/api/products/${product.id}`,
    '/api/categories',
    `/api/categories/${category.id}`
  ]
  // A page that the gateway keeps is answered without a statement. One that was built while a change of the catalog arrived is not kept.
  await until('all pages are kept', async () => {
    const { statements } = await shop.record(async () => {
      for (const page of pages) expect((await read(page)).status, page).toBe(200)
    })
    return statements.length === 0
  })
  return { shop, pages, product, unread, read }
}
type BrowsedShop = Awaited<ReturnType<typeof useBrowsedShop>>

/** Reads all pages while `fault` begins, until they are stale, and longer. Each answer must be 200. */
async function outage({ shop, pages, product, unread, read }: BrowsedShop, fault: () => unknown) {
  await fault()
  for (const page of pages) {
    await until(`${page} is stale`, async () => {
      const { status, isStale, ms } = await read(page)
      expect(status, page).toBe(200)
      expect(ms, page).toBeLessThan(FIRST_MS_MAX)
      return isStale
    })
  }
  let longest = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    await delay(PAUSE_MS)
    for (const page of pages) {
      const { status, headers, ms, isStale } = await read(page)
      expect([status, isStale], page).toEqual([200, true])
      expect(Number(headers.age), page).toBeLessThan(60)
      longest = Math.max(longest, ms)
    }
  }
  expect(longest).toBeLessThan(PROMPT_MS_MAX)

  const page = `/api/products/${product.id}`
  const { etag } = (await read(page)).headers
  expect((await read(page, { headers: { 'if-none-match': String(etag) } })).status).toBe(304)
  expect((await shop.request('HEAD', page)).status).toBe(200)
  for (const [path, options] of [
    [`/api/products/${unread.id}`, {}],
    ['/api/products?q=cup', {}],
    ['/api/products', { headers: { 'x-market': 'default' } }],
    ['/readyz', {}]
  ] as const)
    expect((await read(path, options)).status, path).toBe(503)
  const body = { variant_id: product.variants[0].id, quantity: 1 }
  expect((await shop.request('POST', '/api/guest-cart', { body })).status).toBe(503)
}

/** Waits until the pages are fresh, and then changes a product: its pages show that immediately. */
async function isFreshAgain({ shop, pages, product, read }: BrowsedShop) {
  const elapsed = await until('a page is fresh', async () => !(await read('/api/products')).isStale)
  expect(elapsed).toBeLessThan(RETURN_MS_MAX)
  for (const page of pages) {
    const { status, isStale, headers } = await read(page)
    expect([status, isStale, headers.age], page).toEqual([200, false, undefined])
  }
  await until('a product can be changed', async () => {
    const changed = await shop.as(admin()).patch(`/api/catalog/products/${product.id}`, { name: 'Beaker' })
    return changed.status === 200
  })
  expect((await read(`/api/products/${product.id}`)).json.name).toBe('Beaker')
}

const urlOf = (hosts: readonly { host: string }[]) =>
  `postgres://cartwright@${hosts.map(({ host }) => host).join(',')}/shop?target_session_attrs=read-write`

test('while the primary is killed the pages of the catalog are stale, and fresh after the promotion of its standby', {
  timeout: 120_000
}, async () => {
  const { primary, standby } = await usePrimaryAndStandby()
  const shop = await useBrowsedShop(urlOf([primary, standby]))
  await outage(shop, () => primary.signal('SIGKILL'))
  await standby.sql('select pg_promote()')
  await isFreshAgain(shop)
})

test('while the database is frozen the pages of the catalog are stale, and fresh when it continues', {
  timeout: 120_000
}, async () => {
  const { primary } = await usePrimaryAndStandby()
  const shop = await useBrowsedShop(primary.url)
  await outage(shop, () => primary.signal('SIGSTOP'))
  primary.signal('SIGCONT')
  await isFreshAgain(shop)
})

test('while the database freezes under load, no request for a page gets 503', {
  timeout: 120_000
}, async () => {
  const { primary } = await usePrimaryAndStandby()
  const { shop, pages } = await useBrowsedShop(primary.url)
  const client = createHttpClient(await shop.listen(), 300)
  onTestFinished(client.close)
  const answers: ReturnType<typeof client.send>[] = []
  primary.signal('SIGSTOP')
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const page of [...pages, ...pages]) answers.push(client.send('GET', page))
    await delay(PAUSE_MS)
  }
  const statuses = Map.groupBy(await Promise.all(answers), answer => answer?.status)
  expect([...statuses.keys()]).toEqual([200])
  primary.signal('SIGCONT')
})

test('while each answer of the database takes 3 seconds the pages of the catalog are stale', {
  timeout: 120_000
}, async () => {
  const { url, proxy } = await useProxiedDatabase()
  const shop = await useBrowsedShop(url)
  await outage(shop, () => proxy.slow('to_program', 3_000))
  await proxy.restore()
  await isFreshAgain(shop)
})

test('behind a load balancer that checks /readyz, pages are stale while the database is away from all processes', {
  timeout: 120_000
}, async () => {
  const { url, proxy } = await useProxiedDatabase()
  const programs = [1, 2].map(() =>
    startProgram({
      DATABASE_URL: url,
      CARTWRIGHT__RATE_LIMIT__ENABLED: 'false',
      CARTWRIGHT__SHOP__DEMO: 'on'
    })
  )
  onTestFinished(async () => {
    await proxy.restore()
    for (const { child } of programs) child.kill('SIGKILL')
    for (const { ended } of programs) await ended
  })
  const addresses = await Promise.all(programs.map(({ listening }) => listening))
  const balancer = await startHaproxyOrStandIn(addresses)
  onTestFinished(balancer.close)
  const client = createHttpClient(balancer.origin, 2)
  onTestFinished(client.close)
  const products = () => client.send('GET', '/api/products')
  await until('the shop has products', async () => (await products())?.json.items.length > 0)
  for (const address of addresses) {
    await until('the process has the page', async () => {
      const { items } = (await (await fetch(`${address}/api/products`)).json()) as { items: unknown[] }
      return items.length > 0
    })
  }
  await proxy.cut()
  const statuses = async () =>
    Promise.all(addresses.map(async address => (await fetch(`${address}/readyz`)).status))
  await until('no process is ready', async () => {
    expect((await products())?.status).toBe(200)
    return (await statuses()).every(status => status === 503)
  })
  // Longer than the balancer needs to take both out.
  for (let round = 0; round < ROUNDS; round += 1) {
    await delay(PAUSE_MS)
    expect((await products())?.status).toBe(200)
    const refused = await client.send('POST', '/api/guest-cart', { body: { variant_id: 'x', quantity: 1 } })
    expect([400, 503]).toContain(refused?.status)
  }
  await proxy.restore()
  await until('the processes are ready', async () => (await statuses()).every(status => status === 200))
})
