import { expect, test } from 'vitest'
import { createCategory, createDiscount, createProduct, useCatalog } from '../../../test/support/catalog.ts'

test('an empty PATCH of a product, variant, category or discount changes no version, and still checks If-Match', async () => {
  const app = await useCatalog()
  const product = await createProduct(app)
  const variantId = product.variants[0].id
  const category = await createCategory(app, 'Mugs')
  const discount = await createDiscount(app, {
    percentage_ppm: 100_000,
    scope: 'variant',
    target_id: variantId
  })
  const paths = [
    `products/${product.id}`,
    `variants/${variantId}`,
    `categories/${category.id}`,
    `discounts/${discount.id}`
  ]
  const patch = (path: string, etag?: string) =>
    app.request('PATCH', `/api/catalog/${path}`, {
      token: 'admin',
      body: {},
      ...(etag === undefined ? {} : { headers: { 'if-match': etag } })
    })
  for (const path of paths) {
    expect([path, (await patch(path)).status, (await patch(path)).headers.etag]).toEqual([path, 200, '"1"'])
    expect([path, (await patch(path, '"1"')).status]).toEqual([path, 200])
    expect([path, (await patch(path, '"9"')).status]).toEqual([path, 412])
  }
  const after = (await app.request('GET', `/api/catalog/products/${product.id}`, { token: 'admin' })).json
  expect(after).toEqual(product)
})
