import { expect, test } from 'vitest'
import { createCategory, createProduct, useCatalog } from '../../../../test/support/catalog.ts'
import { needsOwnShop, shareShops } from '../../../../test/support/shared-shops.ts'
import { newId } from '../../../kernel/ids.ts'

shareShops()

const admin = { token: 'admin' }

test('a product is created with variants, options, images and categories', async () => {
  const app = await useCatalog()
  const category = await createCategory(app, 'Küche')
  const created = await app.request('POST', '/api/catalog/products', {
    ...admin,
    body: {
      name: 'Crème Mug',
      brand: 'Acme',
      description: '<p>Holds tea</p>',
      tags: ['kitchen', 'tea'],
      options: [{ name: 'Colour', values: ['Red', 'Blue'] }],
      images: [{ url: 'https://example.com/a.png', alt: 'A mug' }, { url: 'https://example.com/b.png' }],
      category_ids: [category.id],
      variants: [
        { sku: 'MUG-R', price: 1_250, sale_price: 1_000, attributes: { Colour: 'Red' }, weight_grams: 300 },
        { sku: 'MUG-B', price: 1_250, attributes: { Colour: 'Blue' }, barcode: '4006381333931' }
      ]
    }
  })
  expect(created.status).toBe(201)
  expect(created.headers.etag).toBe('"1"')
  expect(created.json).toMatchObject({
    slug: 'creme-mug',
    status: 'active',
    version: 1,
    categories: [{ slug: 'kuche', name: 'Küche' }],
    images: [
      { url: 'https://example.com/a.png', alt: 'A mug', position: 1 },
      { url: 'https://example.com/b.png', alt: null, position: 2 }
    ],
    variants: [
      {
        sku: 'MUG-R',
        name: 'Red',
        price: 1_250,
        sale_price: 1_000,
        currency: 'USD',
        position: 1,
        active: true
      },
      { sku: 'MUG-B', name: 'Blue', sale_price: null, barcode: '4006381333931', position: 2 }
    ]
  })
  const read = await app.request('GET', `/api/catalog/products/${created.json.id}`, admin)
  expect(read.json).toEqual(created.json)
})

test('a PATCH of a product changes only the sent fields, and increments the version', async () => {
  needsOwnShop()
  const app = await useCatalog()
  const [one, two] = [await createCategory(app, 'One'), await createCategory(app, 'Two')]
  const product = await createProduct(app, {
    name: 'Mug',
    brand: 'Acme',
    tags: ['a'],
    category_ids: [one.id]
  })
  const url = `/api/catalog/products/${product.id}`
  const patched = await app.request('PATCH', url, {
    ...admin,
    body: { name: 'Jug', brand: null, category_ids: [two.id] }
  })
  expect(patched.status).toBe(200)
  expect(patched.headers.etag).toBe('"2"')
  expect(patched.json).toEqual({
    ...product,
    name: 'Jug',
    brand: null,
    categories: [{ id: two.id, slug: 'two', name: 'Two' }],
    version: 2,
    updated_at: expect.any(String)
  })
  expect((await app.request('GET', '/api/products?q=jug')).json.items).toHaveLength(1)
  expect((await app.request('GET', '/api/products?q=mug')).json.items).toHaveLength(0)
})

test('a repeated category of a product is stored once', async () => {
  const app = await useCatalog()
  const { id } = await createCategory(app, 'Home')
  const product = await createProduct(app, { category_ids: [id, id.toUpperCase()] })
  expect(product.categories).toHaveLength(1)
})

test('of concurrent product writes with the same version, one succeeds', async () => {
  const app = await useCatalog()
  const product = await createProduct(app)
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      app.request('PATCH', `/api/catalog/products/${product.id}`, {
        ...admin,
        headers: { 'if-match': '"1"' },
        body: { name: `Mug ${index}` }
      })
    )
  )
  expect(answers.map(answer => answer.status).sort()).toEqual([200, 412, 412, 412, 412, 412, 412, 412])
})

test('product slugs and SKUs are unique', async () => {
  needsOwnShop()
  const app = await useCatalog()
  const product = await createProduct(app, { name: 'Mug', slug: 'mug', variants: [{ sku: 'A', price: 1 }] })
  const post = (body: unknown) => app.request('POST', '/api/catalog/products', { ...admin, body })
  expect((await post({ name: 'Mug', slug: 'mug' })).json).toMatchObject({
    status: 409,
    code: 'CATALOG_SLUG_TAKEN',
    errors: [{ path: 'body/slug', message: 'must be unique' }]
  })
  const second = await post({ name: 'Jug', variants: [{ sku: 'A', price: 1 }] })
  expect(second.json).toMatchObject({ status: 409, code: 'CATALOG_SKU_TAKEN' })
  expect((await app.request('GET', '/api/products/jug')).status).toBe(404)
  const url = `/api/catalog/products/${product.id}/variants`
  const twin = { sku: 'A', price: 1, attributes: { Size: 'Big' } }
  expect((await app.request('POST', url, { ...admin, body: twin })).json.code).toBe('CATALOG_SKU_TAKEN')
  expect((await post({ name: '!!!' })).json).toMatchObject({
    code: 'CATALOG_SLUG_NEEDED',
    errors: [{ path: 'body/slug' }]
  })
  expect((await post({ name: 'Jug', category_ids: [newId()] })).json.code).toBe('CATALOG_CATEGORY_NOT_FOUND')
})

test('a product without a slug gets its name as slug, with a number when that is taken', async () => {
  needsOwnShop()
  const app = await useCatalog()
  const create = () => app.as(admin).post('/api/catalog/products', { name: 'Mug' })
  const made = await Promise.all([create(), create(), create()])
  expect(made.map(({ status }) => status)).toEqual([201, 201, 201])
  expect(made.map(({ json }) => json.slug).sort()).toEqual(['mug', 'mug-2', 'mug-3'])
  const named = await app.as(admin).post('/api/catalog/products', { name: 'Mug', slug: 'mug-2' })
  expect([named.status, named.json.errors]).toEqual([409, [expect.objectContaining({ path: 'body/slug' })]])
  expect((await create()).json.slug).toBe('mug-4')
})

test('variants of a product are added, changed and deleted one at a time', async () => {
  const app = await useCatalog()
  const product = await createProduct(app, { name: 'Mug', slug: 'sized-mug' })
  const added = await app.request('POST', `/api/catalog/products/${product.id}/variants`, {
    ...admin,
    body: { sku: 'BIG', price: 2_000, attributes: { Size: 'Big' } }
  })
  expect(added.status).toBe(201)
  expect(added.headers.etag).toBe('"2"')
  expect(added.json).toMatchObject({ product_id: product.id, name: 'Big', position: 2, active: true })
  const url = `/api/catalog/variants/${added.json.id}`
  const patched = await app.request('PATCH', url, { ...admin, body: { sale_price: 1_500, active: true } })
  expect(patched.json).toEqual({ ...added.json, sale_price: 1_500, version: 3 })
  const seen = (await app.request('GET', '/api/products/sized-mug')).json.variants
  expect(seen.map((variant: { discounted_price: number }) => variant.discounted_price)).toEqual([
    1_000, 1_500
  ])
  expect((await app.request('DELETE', url, admin)).status).toBe(204)
  expect((await app.request('DELETE', url, admin)).json.code).toBe('CATALOG_VARIANT_NOT_FOUND')
  expect((await app.request('GET', `/api/catalog/products/${product.id}`, admin)).json).toMatchObject({
    version: 4,
    variants: [{ sku: product.variants[0].sku }]
  })
})

test('a product has 250 variants at most', async () => {
  const app = await useCatalog()
  const variants = Array.from({ length: 250 }, (_, index) => ({ sku: `V${index}`, price: 1 }))
  const product = await createProduct(app, { variants })
  const body = { sku: 'ONE-MORE', price: 1 }
  const { json } = await app.request('POST', `/api/catalog/products/${product.id}/variants`, {
    ...admin,
    body
  })
  expect(json).toMatchObject({ status: 409, code: 'CATALOG_VARIANT_LIMIT', variants_max: 250 })
})

test('an administrator lists products of every status, page by page', async () => {
  needsOwnShop()
  const app = await useCatalog()
  for (const status of ['active', 'draft', 'archived', 'draft', 'active'])
    await createProduct(app, { name: `Mug ${status}`, status })
  const list = (query: string) => app.request('GET', `/api/catalog/products?${query}`, admin)
  const first = (await list('limit=3&count=true')).json
  expect(first.total).toBe(5)
  const second = (await list(`limit=3&cursor=${first.next_cursor}`)).json
  const all = [...first.items, ...second.items]
  expect(all.map(item => item.status)).toEqual(['active', 'draft', 'archived', 'draft', 'active'])
  expect(second.next_cursor).toBeNull()
  expect((await list('status=draft&count=true')).json).toMatchObject({ total: 2, items: [{}, {}] })
  expect((await list('q=ARCH')).json.items).toHaveLength(1)
  expect((await list(`status=draft&cursor=${first.next_cursor}`)).json.code).toBe('INVALID_CURSOR')
})

test('an invalid product is rejected with 400, and nothing changes', async () => {
  needsOwnShop()
  const app = await useCatalog()
  const variant = { sku: 'A', price: 1 }
  const bad = [
    {},
    { name: '' },
    { name: 'a\nb' },
    { name: 'x'.repeat(256) },
    { name: 'Mug', extra: 1 },
    { name: 'Mug', slug: 'no spaces' },
    { name: 'Mug', slug: 'no/slash' },
    { name: 'Mug', status: 'sold' },
    { name: 'Mug', images: [{ url: 'javascript:alert(1)' }] },
    { name: 'Mug', images: [{ url: 'ftp://example.com/a.png' }] },
    { name: 'Mug', options: Array.from({ length: 4 }, () => ({ name: 'a', values: [] })) },
    { name: 'Mug', tags: Array.from({ length: 251 }, (_, index) => `t${index}`) },
    { name: 'Mug', variants: [{ ...variant, price: -1 }] },
    { name: 'Mug', variants: [{ ...variant, price: 1.5 }] },
    { name: 'Mug', variants: [{ ...variant, price: 2 ** 53 }] },
    { name: 'Mug', variants: [{ ...variant, price: '1' }] },
    { name: 'Mug', variants: [{ ...variant, currency: 'XXX' }] },
    { name: 'Mug', variants: [{ ...variant, attributes: { Size: 1 } }] },
    { name: 'Mug', variants: [{ ...variant, attributes: { '': 'x' } }] },
    { name: 'Mug', variants: Array.from({ length: 251 }, (_, index) => ({ sku: `V${index}`, price: 1 })) }
  ]
  for (const body of bad) {
    const { status } = await app.request('POST', '/api/catalog/products', { ...admin, body })
    expect([body, status]).toEqual([body, 400])
  }
  expect(await app.catalog.isEmpty()).toBe(true)
})
