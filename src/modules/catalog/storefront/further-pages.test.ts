import { expect, test } from 'vitest'
import {
  type CatalogApp,
  changesOf,
  createCategory,
  createDiscount,
  createProduct,
  useCatalog
} from '../../../../test/support/catalog.ts'
import { useMarkets } from '../../../../test/support/markets.ts'
import { settled } from '../../../../test/support/settled.ts'
import { fakeInventory } from '../../inventory/fake.ts'
import { refreshVariantInStockFlags } from '../stock/subscriber.ts'

const UNCACHED = { CARTWRIGHT__CATALOG__PAGE_CACHE_SECONDS: '0' }

/** The texts of all pages of a list, by their targets. */
async function walk(app: Pick<CatalogApp, 'request'>, query: string): Promise<Record<string, string>> {
  const pages: Record<string, string> = {}
  for (let cursor: string | null = ''; cursor !== null; ) {
    const target = `/api/products?${query}${cursor && `&cursor=${cursor}`}`
    const { status, text, json } = await app.request('GET', target)
    expect(status, text).toBe(200)
    pages[target] = text
    cursor = json.next_cursor
  }
  return pages
}
const statementsOf = async (app: CatalogApp, work: () => Promise<unknown>) =>
  (await app.record(work)).statements.length

async function useProducts() {
  const app = await useCatalog()
  for (const name of ['A', 'B', 'C', 'D', 'E']) await createProduct(app, { name, tags: ['t'] })
  await settled(app)
  await app.request('GET', '/api/categories')
  return app
}

test('the pages that follow a cached page are cached, each after one statement', async () => {
  const app = await useProducts()
  for (const query of ['limit=2', 'limit=2&sort=name', 'limit=1&tag=t&in_stock=true']) {
    const pages = await walk(app, query)
    expect(await statementsOf(app, () => walk(app, query))).toBe(0)
    expect(await walk(app, query)).toEqual(pages)
  }
  const pages = Object.keys(await walk(app, 'limit=2&sort=name&tag=t')).length
  expect(pages).toBe(3)
})

test('a page is not cached when no cached page has returned its cursor', async () => {
  const app = await useProducts()
  const { next_cursor } = (await app.request('GET', '/api/products?limit=2')).json
  const [fingerprint, key] = JSON.parse(Buffer.from(next_cursor, 'base64url').toString())
  const forged = Buffer.from(JSON.stringify([fingerprint, key, '01990000-0000-7000-8000-000000000000']))
  for (const target of [
    `/api/products?limit=2&cursor=${forged.toString('base64url')}`,
    `/api/products?limit=3&cursor=${next_cursor}`,
    `/api/products?limit=2&cursor=${next_cursor}=`
  ])
    for (let times = 0; times < 3; times += 1)
      expect([target, await statementsOf(app, () => app.request('GET', target))]).toEqual([target, 1])
  for (const query of ['limit=2&sort=price', 'limit=2&q=a']) {
    const pages = Object.keys(await walk(app, query)).length
    expect(await statementsOf(app, () => walk(app, query))).toBe(pages)
  }
})

test('further pages show each change immediately, as a shop without a cache does', async () => {
  const inventory = fakeInventory()
  const app = await useCatalog({}, undefined, inventory)
  const uncached = await useCatalog(UNCACHED, app.databaseUrl, inventory)
  const products: { id: string; variants: { id: string }[] }[] = []
  for (const name of ['A', 'B', 'C', 'D', 'E']) products.push(await createProduct(app, { name, tags: ['t'] }))
  const [oldest, second] = products as [(typeof products)[0], (typeof products)[0]]
  const category = await createCategory(app, 'Home')
  const change = async (method: string, path: string, body?: object) => {
    const { status, text } = await app.request(method, `/api/catalog/${path}`, { token: 'admin', body })
    expect(status, text).toBeLessThan(300)
  }
  const variant = oldest.variants[0]?.id as string
  const changes: Record<string, () => Promise<unknown>> = {
    name: () => change('PATCH', `products/${oldest.id}`, { name: 'Changed' }),
    price: () => change('PATCH', `variants/${variant}`, { price: 777 }),
    discount: () => createDiscount(app, { scope: 'product', target_id: oldest.id, amount: 100 }),
    stock: () => {
      inventory.put(variant, 0)
      return app.platform.db.transaction(tx =>
        refreshVariantInStockFlags(tx, [variant], { inventory, changes: changesOf(app.platform) })
      )
    },
    category: () => change('PATCH', `products/${oldest.id}`, { category_ids: [category.id] }),
    'a hidden product': () => change('PATCH', `products/${second.id}`, { status: 'draft' }),
    'a published product': () => change('PATCH', `products/${second.id}`, { status: 'active' }),
    'a new product': () => createProduct(app, { name: 'New', tags: ['t'] }),
    'a deleted product': () => change('DELETE', `products/${second.id}`)
  }
  for (const [name, make] of Object.entries(changes)) {
    for (let times = 0; times < 2; times += 1) await walk(app, 'limit=2&tag=t')
    const before = await walk(app, 'limit=2&tag=t')
    await make()
    if (name === 'stock') await settled(app)
    const after = await walk(app, 'limit=2&tag=t')
    expect([name, after]).toEqual([name, await walk(uncached, 'limit=2&tag=t')])
    if (name !== 'category') expect(after, name).not.toEqual(before)
    expect(await walk(app, 'limit=2&category=home')).toEqual(await walk(uncached, 'limit=2&category=home'))
  }
})

test('further pages of a market follow its price list and its currency', async () => {
  const shop = await useMarkets()
  const variants: string[] = []
  for (const name of ['A', 'B', 'C'])
    variants.push(
      (await createProduct(shop, { name, variants: [{ sku: name, price: 1_000 }] })).variants[0].id
    )
  const list = await shop.createList('GBP')
  const price = (amount: number) =>
    shop.setPrices(list, ...variants.map(variant_id => ({ variant_id, price: amount })))
  await price(900)
  const market = await shop.createMarket('uk', 'GBP', list)
  const shown = async () =>
    Object.values(await walk(shop, 'limit=1&market=uk')).map(
      text => JSON.parse(text).items[0].discounted_price
    )
  await expect.poll(shown).toEqual([900, 900, 900])
  await shown()
  await price(800)
  await expect.poll(shown).toEqual([800, 800, 800])

  const other = await shop.createList('GBP')
  await shop.setPrices(other, ...variants.map(variant_id => ({ variant_id, price: 700 })))
  await shown()
  const { status } = await shop.admin.patch(`/api/admin/markets/${market.code}`, { price_list_id: other })
  expect(status).toBe(200)
  await expect.poll(shown).toEqual([700, 700, 700])
  await shop.admin.patch(`/api/admin/markets/${market.code}`, { active: false })
  expect((await shop.request('GET', '/api/products?limit=1&market=uk')).status).toBe(400)
})
