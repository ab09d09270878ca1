import { expect, test } from 'vitest'
import {
  type CatalogApp,
  createCategory,
  createDiscount,
  createProduct,
  useCatalog
} from '../../../../test/support/catalog.ts'
import { eventually } from '../../../../test/support/eventually.ts'

const SHARED = { CARTWRIGHT__CATALOG__SHARED_CACHE_SECONDS: '600' }
const ALWAYS = 'public, max-age=0, stale-if-error=300'

async function useBrowsed(settings: Record<string, string>) {
  const app = await useCatalog(settings)
  const category = await createCategory(app, 'Mugs')
  const product = await createProduct(app, { slug: 'mug', category_ids: [category.id] })
  return { app, category, product }
}
/** A page that is built while the message about the last change arrives is not for shared caches, so tests wait. */
async function headersOf(app: CatalogApp, path: string, headers: Record<string, string> = {}) {
  const answer = await app.request('GET', path, { headers })
  return [answer.headers['cache-control'], answer.headers['surrogate-key']]
}

test('pages of the catalog may be sent by shared caches for the configured time, and name what they depend on', async () => {
  const { app, category, product } = await useBrowsed(SHARED)
  const ofProduct = `catalog product-${product.id}`
  const keys = {
    [`/api/products/${product.id}`]: ofProduct,
    '/api/products/mug': ofProduct,
    '/api/products': 'catalog catalog-list',
    '/api/products?q=mug&sort=price': 'catalog catalog-list',
    '/api/categories': 'catalog',
    [`/api/categories/${category.id}`]: 'catalog'
  }
  for (const [path, wanted] of Object.entries(keys)) {
    const shared = [`${ALWAYS}, s-maxage=600, stale-while-revalidate=10`, wanted]
    await eventually(async () => expect(await headersOf(app, path), path).toEqual(shared))
    const first = await app.request('GET', path)
    // The gateway has kept the response.
    for (const headers of [{}, {}, { 'if-none-match': String(first.headers.etag) }])
      expect(await headersOf(app, path, headers), path).toEqual(shared)
  }
})

test('without the setting, and on errors, no header allows shared caches to send pages of the catalog', async () => {
  const { app } = await useBrowsed({})
  for (const path of ['/api/products', '/api/products/mug', '/api/categories'])
    expect(await headersOf(app, path)).toEqual([ALWAYS, undefined])
  const shared = await useCatalog(SHARED)
  expect(await headersOf(shared, '/api/products/none')).toEqual(['private, no-store', undefined])
})

test.each([
  [300, /s-maxage=2[5-9]\d, stale-while-revalidate=0$/],
  [608, /s-maxage=600, stale-while-revalidate=[0-7]$/]
])('shared caches stop to send pages before a discount starts in %s seconds', async (seconds, wanted) => {
  const { app, product } = await useBrowsed(SHARED)
  const starts_at = new Date(Date.now() + seconds * 1_000).toISOString()
  await createDiscount(app, { scope: 'product', target_id: product.id, percentage_ppm: 500_000, starts_at })
  for (const path of ['/api/products', '/api/products?q=mug', '/api/products/mug', '/api/categories'])
    await eventually(async () => expect((await headersOf(app, path))[0]).toMatch(wanted))
})
