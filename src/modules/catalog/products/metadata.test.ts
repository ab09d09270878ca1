import { expect, test } from 'vitest'
import { createCategory, createProduct, useCatalog } from '../../../../test/support/catalog.ts'
import { shareShops } from '../../../../test/support/shared-shops.ts'

shareShops()

const admin = { token: 'admin' }
const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key ${index}`, 'x']))

async function usePatch() {
  const app = await useCatalog()
  return {
    app,
    patch: async (path: string, body: object) =>
      (await app.request('PATCH', `/api/catalog/${path}`, { ...admin, body })).json,
    read: async (path: string) => app.request('GET', path)
  }
}

test('products and their variants have metadata, and the public part is on the product page', async () => {
  const { app, patch, read } = await usePatch()
  const created = await createProduct(app, {
    slug: 'teapot',
    metadata: { supplier: 'Fika', none: null },
    private_metadata: { margin: 'high' },
    variants: [{ sku: 'MUG', price: 1_000, metadata: { shelf: 'A1' }, private_metadata: { cost: '4.00' } }]
  })
  expect(created).toMatchObject({ metadata: { supplier: 'Fika' }, private_metadata: { margin: 'high' } })
  expect(created.metadata).not.toHaveProperty('none')
  const [variant] = created.variants
  expect(variant).toMatchObject({ metadata: { shelf: 'A1' }, private_metadata: { cost: '4.00' } })
  await read('/api/products/teapot')

  const changed = await patch(`products/${created.id}`, { metadata: { supplier: null, line: 'autumn' } })
  expect([changed.metadata, changed.private_metadata]).toEqual([{ line: 'autumn' }, { margin: 'high' }])
  expect(changed.version).toBe(created.version + 1)
  const patched = await patch(`variants/${variant.id}`, { metadata: { bin: '7' }, name: 'Large' })
  expect(patched).toMatchObject({ name: 'Large', metadata: { shelf: 'A1', bin: '7' } })

  const page = await read('/api/products/teapot')
  expect(page.json).toMatchObject({
    metadata: { line: 'autumn' },
    variants: [{ metadata: { shelf: 'A1', bin: '7' } }]
  })
  for (const hidden of ['private_metadata', 'high', '4.00']) expect(page.text).not.toContain(hidden)
  // Neither list nor offers have it.
  expect((await read('/api/products')).text).not.toContain('autumn')
  const [offer] = await app.catalog.offers([{ variantId: variant.id, quantity: 1 }], null)
  expect(JSON.stringify(offer)).not.toContain('A1')
})

test('a new variant has the metadata of its request', async () => {
  const { app } = await usePatch()
  const { id } = await createProduct(app)
  const body = { sku: 'NEW', price: 5, attributes: {}, active: false, metadata: { shelf: 'B2' } }
  const { json } = await app.request('POST', `/api/catalog/products/${id}/variants`, { ...admin, body })
  expect(json).toMatchObject({ metadata: { shelf: 'B2' }, private_metadata: {} })
})

test('categories have metadata, and the public part is in the category tree', async () => {
  const { app, patch, read } = await usePatch()
  const { id } = await createCategory(app, 'Kitchen')
  const body = { metadata: { icon: 'cup' }, private_metadata: { buyer: 'Eve' } }
  expect(await patch(`categories/${id}`, body)).toMatchObject(body)
  const own = await app.request('GET', `/api/catalog/categories/${id}`, admin)
  expect(own.json).toMatchObject(body)
  for (const path of ['/api/categories', '/api/categories/kitchen']) {
    const { text } = await read(path)
    expect(text).toContain('"metadata":{"icon":"cup"}')
    expect(text).not.toContain('Eve')
    expect(text).not.toContain('private_metadata')
  }
})

test('an administrator filters products by metadata', async () => {
  const { app } = await usePatch()
  for (const [slug, metadata] of [
    ['mug', { supplier: 'Fika', line: 'a' }],
    ['bowl', { supplier: 'Fika' }],
    ['cup', {}]
  ] as const)
    await createProduct(app, { slug, name: slug, metadata })
  const listed = async (query: string) => {
    const { json } = await app.request('GET', `/api/catalog/products?count=true&${query}`, admin)
    return [json.total, ...json.items.map((item: { slug: string }) => item.slug)]
  }
  expect(await listed('metadata[supplier]=Fika')).toEqual([2, 'bowl', 'mug'])
  expect(await listed('metadata[supplier]=Fika&metadata[line]=a')).toEqual([1, 'mug'])
  expect(await listed('metadata[supplier]=Fika&q=bowl')).toEqual([1, 'bowl'])
  expect(await listed('metadata[supplier]=Fika&q=cup')).toEqual([0])
  expect(await listed('metadata[supplier]=Fika&status=draft')).toEqual([0])
})

test('a change that leaves a catalog object more metadata keys than the limit is rejected and changes nothing', async () => {
  const { app, patch } = await usePatch()
  const created = await createProduct(app, { metadata: many(50) })
  const [variant] = created.variants
  expect(await patch(`products/${created.id}`, { metadata: { more: 'x' }, name: 'Other' })).toMatchObject({
    status: 400,
    code: 'METADATA_LIMIT'
  })
  await patch(`variants/${variant.id}`, { private_metadata: many(50) })
  expect((await patch(`variants/${variant.id}`, { private_metadata: { more: 'x' } })).code).toBe(
    'METADATA_LIMIT'
  )
  const { json } = await app.request('GET', `/api/catalog/products/${created.id}`, admin)
  expect([json.name, json.metadata]).toEqual([created.name, created.metadata])
})
