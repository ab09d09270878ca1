import { expect, test, vi } from 'vitest'
import { extendResource, type ResourceField } from '../../src/kernel/resources.ts'
import { Type } from '../../src/kernel/schema.ts'
import { cartMergedEvent } from '../../src/modules/cart/index.ts'
import {
  catalogModule,
  categoryResource,
  productChangedEvent,
  productResource,
  variantResource
} from '../../src/modules/catalog/index.ts'
import { reviewsModule } from '../../src/modules/reviews/index.ts'
import { admin, customer, fakeAuth } from '../../src/testing.ts'
import { createCategory, createProduct } from '../support/catalog.ts'
import { useTestDatabaseUrl } from '../support/database.ts'
import { readExposition } from '../support/exposition.ts'
import { shareShops } from '../support/shared-shops.ts'
import { runSql } from '../support/sql.ts'
import { useShop } from '../support/use-shop.ts'
import { CREATE_LABEL_TABLE, createLabels, setLabel } from './labels.ts'

/** An administrator with access to orders only. */
const CLERK = { token: 'clerk' }

function authWithClerk() {
  const auth = fakeAuth()
  return {
    ...auth,
    authenticate: async (token: string) =>
      token === CLERK.token
        ? { ...(await auth.authenticate('admin')), scopes: ['orders'] }
        : auth.authenticate(token)
  }
}

type Labels = ReturnType<typeof createLabels>

shareShops()

/** A shop with these labels, in a database without products, categories and values. */
async function useLabels(labels: Labels, settings: Record<string, string> = {}) {
  const databaseUrl = await useTestDatabaseUrl()
  await runSql(
    databaseUrl,
    `truncate catalog.products, catalog.categories cascade; drop schema if exists labels cascade; ${CREATE_LABEL_TABLE}`
  )
  const shop = await useShop({
    databaseUrl,
    modules: [catalogModule, labels.module],
    settings,
    instead: { auth: authWithClerk() }
  })
  return { ...shop, admin: shop.as(admin()), guest: shop.as(null) }
}
type Shop = Awaited<ReturnType<typeof useLabels>>

const label = (resource: typeof productResource, audience: 'public' | 'admin', isWritten = false) => ({
  resource,
  audience,
  isWritten
})

test('a field without an audience, or for an audience that the resource does not have, or public without a purge, does not compile', () => {
  const schema = Type.String()
  const fields: ResourceField[] = [
    extendResource(productResource, { field: 'label', audience: 'admin', schema }),
    extendResource(productResource, { field: 'label', audience: 'public', purgedBy: 'expiry', schema }),
    extendResource(productResource, {
      field: 'label',
      audience: 'public',
      purgedBy: [productChangedEvent],
      schema
    }),
    // @ts-expect-error: it has no audience
    extendResource(productResource, { field: 'label', schema }),
    // @ts-expect-error: products have no owner
    extendResource(productResource, { field: 'label', audience: 'owner', schema })
  ]
  expect(fields).toHaveLength(5)
  // @ts-expect-error: nothing says how shared caches lose a changed value
  expect(() => extendResource(productResource, { field: 'label', audience: 'public', schema })).toThrow(
    "the field catalog.product.label is public: declare in purgedBy the events that purge it from shared caches, or 'expiry'"
  )
  const purgedBy = [cartMergedEvent] as const
  expect(() =>
    extendResource(productResource, { field: 'label', audience: 'public', purgedBy, schema })
  ).toThrow('the field catalog.product.label is purged by cart.merged, which webhooks do not send')
})

test('a public field is in product pages and lists of every caller, and in no administrative read', async () => {
  const labels = createLabels(label(productResource, 'public'))
  const shop = await useLabels(labels)
  const { id } = await createProduct(shop, { slug: 'mug' })
  const other = await createProduct(shop)
  await setLabel(shop, id, 'new')
  for (const caller of [shop.guest, shop.as(customer()), shop.admin]) {
    expect((await caller.get('/api/products/mug')).json.label).toBe('new')
    const { items } = (await caller.get('/api/products')).json
    expect(items.map((each: { id: string; label: unknown }) => [each.id, each.label])).toEqual([
      [other.id, null],
      [id, 'new']
    ])
  }
  expect((await shop.admin.get(`/api/catalog/products/${id}`)).json).not.toHaveProperty('label')
  expect((await shop.admin.get('/api/catalog/products')).text).not.toContain('label')
})

test('a field is loaded once for all products of a page', async () => {
  const labels = createLabels(label(productResource, 'public'), {
    ...label(productResource, 'admin')
  })
  const shop = await useLabels(labels)
  const ids: string[] = []
  for (const _ of Array(3)) ids.unshift((await createProduct(shop)).id)
  labels.loads()
  for (const path of ['/api/products', '/api/products', '/api/products?q=mug', '/api/catalog/products']) {
    await shop.admin.get(path)
    expect(labels.loads(), path).toEqual([ids])
  }
})

test('a changed public field changes the ETag of a cached page, an unchanged one gives 304', async () => {
  const labels = createLabels(label(productResource, 'public'))
  const shop = await useLabels(labels)
  const { id } = await createProduct(shop)
  const read = (etag = '') => shop.guest.get(`/api/products/${id}`, undefined, { 'if-none-match': etag })
  const { etag } = (await read()).headers
  expect((await read(etag as string)).status).toBe(304)
  await setLabel(shop, id, 'changed')
  const changed = await read(etag as string)
  expect([changed.status, changed.json.label]).toEqual([200, 'changed'])
  expect(changed.headers['cache-control']).toBe('public, max-age=0, stale-if-error=300')
})

test('an administrative field is in reads of administrators with the scope only', async () => {
  const labels = createLabels(label(productResource, 'admin'))
  const shop = await useLabels(labels)
  const { id, variants } = await createProduct(shop)
  await setLabel(shop, id, 'secret')
  const path = `/api/catalog/products/${id}`
  expect((await shop.admin.get(path)).json.label).toBe('secret')
  expect(variants[0]).not.toHaveProperty('label')
  const others = [shop.guest.get(path), shop.as(customer()).get(path), shop.as(CLERK).get(path)]
  const answers = await Promise.all(others)
  expect(answers.map(({ status }) => status)).toEqual([401, 403, 403])
  expect(answers.map(({ text }) => text).join()).not.toContain('secret')
  const { text } = await shop.guest.get(`/api/products/${id}`)
  expect(text).not.toContain('label')
})

const WRITES = [
  [
    'a product',
    productResource,
    async (shop: Shop, body: object) =>
      shop.admin.post('/api/catalog/products', { name: 'Mug', status: 'draft', ...body }),
    (id: string) => `/api/catalog/products/${id}`
  ],
  [
    'a variant',
    variantResource,
    async (shop: Shop, body: object) => {
      const { id } = (await shop.admin.post('/api/catalog/products', { name: 'Mug', status: 'draft' })).json
      return shop.admin.post(`/api/catalog/products/${id}/variants`, { sku: 'A', price: 1, ...body })
    },
    (id: string) => `/api/catalog/variants/${id}`
  ],
  [
    'a category',
    categoryResource,
    async (shop: Shop, body: object) => shop.admin.post('/api/catalog/categories', { name: 'Mugs', ...body }),
    (id: string) => `/api/catalog/categories/${id}`
  ]
] as const

test.each(WRITES)(
  'a written field is accepted when %s is created and updated',
  async (_, resource, create, pathOf) => {
    const labels = createLabels(label(resource, 'admin', true))
    const shop = await useLabels(labels)
    const created = await create(shop, { label: 'one' })
    expect([created.status, created.json.label], created.text).toEqual([201, 'one'])
    const { id } = created.json
    expect(labels.writes()).toEqual([[id, 'one']])

    const updated = await shop.admin.patch(pathOf(id), { label: null })
    expect([updated.status, updated.json.label], updated.text).toEqual([200, null])
    expect((await shop.admin.patch(pathOf(id), { name: 'Cup' })).status).toBe(200)
    expect(labels.writes()).toEqual([[id, null]])
    const invalid = await shop.admin.patch(pathOf(id), { label: 7 })
    expect([invalid.status, invalid.json.errors[0].path]).toEqual([400, 'body/label'])
    const stale = await shop.admin.patch(pathOf(id), { label: 'two' }, { 'if-match': '"99"' })
    expect(stale.status).toBe(412)
    expect(labels.writes()).toEqual([])
  }
)

test('written fields of variants are accepted in a new product, each for its own variant', async () => {
  const labels = createLabels(label(variantResource, 'admin', true), {
    ...label(productResource, 'admin', true),
    field: 'shelf'
  })
  const shop = await useLabels(labels)
  const variant = (sku: string, fields = {}) => ({ sku, price: 1, attributes: { Size: sku }, ...fields })
  const variants = [variant('S', { label: 'one' }), variant('M'), variant('L', { label: 'three' })]
  const body = { name: 'Mug', shelf: 'A7', variants }
  const key = { 'idempotency-key': 'a-product-with-labels' }
  const created = await shop.admin.post('/api/catalog/products', body, key)
  expect(created.status, created.text).toBe(201)
  type Labeled = { id: string; sku: string; label: unknown }
  const shown: Labeled[] = created.json.variants
  expect(shown.map(({ sku, label }) => [sku, label])).toEqual([
    ['S', 'one'],
    ['M', null],
    ['L', 'three']
  ])
  expect(labels.writes()).toEqual([
    [created.json.id, 'A7'],
    [shown[0]?.id, 'one'],
    [shown[2]?.id, 'three']
  ])
  expect((await shop.admin.post('/api/catalog/products', body, key)).json).toEqual(created.json)
  expect(labels.writes()).toEqual([])

  const invalid = { name: 'Cup', variants: [variant('XL', { label: 7 })] }
  const { status, json } = await shop.admin.post('/api/catalog/products', invalid)
  expect([status, json.errors[0].path]).toEqual([400, 'body/variants/0/label'])
  expect(await shop.document()).toContain('CreateVariantRequest')
})

test('a field is written in the transaction of the request, once per idempotency key', async () => {
  const labels = createLabels(label(productResource, 'admin', true))
  const shop = await useLabels(labels)
  const create = (headers = {}) =>
    shop.admin.post('/api/catalog/products', { name: 'Mug', status: 'draft', label: 'one' }, headers)
  labels.state.failsToWrite = true
  expect((await create()).status).toBe(500)
  expect(await shop.sql('select 1 from catalog.products')).toEqual([])
  expect(await shop.sql('select 1 from labels.values')).toEqual([])

  labels.state.failsToWrite = false
  labels.writes()
  const key = { 'idempotency-key': 'one-product' }
  const first = await create(key)
  expect((await create(key)).json).toEqual(first.json)
  expect(labels.writes()).toHaveLength(1)
})

test('a field without write, or for a request of another resource, is rejected as unknown', async () => {
  const labels = createLabels(label(productResource, 'admin'), {
    ...label(categoryResource, 'admin', true),
    field: 'shelf'
  })
  const shop = await useLabels(labels)
  const bodies = [
    { name: 'Mug', label: 'one' },
    { name: 'Mug', shelf: 'A' }
  ]
  for (const body of bodies) {
    const { status, json } = await shop.admin.post('/api/catalog/products', body)
    expect([status, json.code]).toEqual([400, 'VALIDATION_FAILED'])
  }
})

test('public fields of categories and variants are in their pages', async () => {
  const labels = createLabels(label(categoryResource, 'public'), label(variantResource, 'public'))
  const shop = await useLabels(labels)
  const parent = await createCategory(shop, 'Kitchen')
  const child = await createCategory(shop, 'Mugs', parent.id)
  const { id, variants } = await createProduct(shop)
  await setLabel(shop, parent.id, 'parent')
  await setLabel(shop, child.id, 'child')
  await setLabel(shop, variants[0].id, 'variant')
  const [root] = (await shop.guest.get('/api/categories')).json.items
  expect([root.label, root.children[0].label]).toEqual(['parent', 'child'])
  const page = (await shop.guest.get('/api/categories/kitchen')).json
  expect([page.label, page.children[0].label]).toEqual(['parent', 'child'])
  const product = (await shop.guest.get(`/api/products/${id}`)).json
  expect(product.variants[0].label).toBe('variant')
  expect(product).not.toHaveProperty('label')
})

test('the API document describes fields in responses, and in requests those with write', async () => {
  const labels = createLabels(label(productResource, 'public'), label(productResource, 'admin', true))
  const shop = await useLabels(labels)
  const { schemas } = JSON.parse(await shop.document()).components
  const shown = { type: ['string', 'null'], maxLength: 20 }
  const names = Object.keys(schemas).filter(name => 'label' in (schemas[name].properties ?? {}))
  expect(names).toEqual([
    'AdminProductResponse',
    'AdminProductSummaryResponse',
    'CreateProductRequest',
    'ProductResponse',
    'ProductSummaryResponse',
    'UpdateProductRequest'
  ])
  for (const name of names) expect(schemas[name].properties.label).toEqual(shown)
  expect(schemas.ProductResponse.required).toContain('label')
  expect(schemas.CreateProductRequest.required).toEqual(['name'])
})

test('fields of a disabled module are null, and requests reject them', async () => {
  const labels = createLabels(label(productResource, 'public'), label(productResource, 'admin', true))
  const shop = await useLabels(labels, { CARTWRIGHT__MODULES__LABELS__ENABLED: 'false' })
  const { id } = await createProduct(shop)
  await setLabel(shop, id, 'kept')
  expect((await shop.guest.get(`/api/products/${id}`)).json.label).toBe(null)
  expect((await shop.admin.get(`/api/catalog/products/${id}`)).json.label).toBe(null)
  expect((await shop.admin.patch(`/api/catalog/products/${id}`, { label: 'one' })).status).toBe(400)
  expect(labels.loads()).toEqual([])
})

test('without the module reviews a product has a null rating; without inventory its stock is null', async () => {
  const settings = { CARTWRIGHT__MODULES__REVIEWS__ENABLED: 'false' }
  const databaseUrl = await useTestDatabaseUrl()
  const shop = await useShop({ databaseUrl, modules: [catalogModule, reviewsModule], settings })
  const { id } = await createProduct(shop)
  const { rating, variants } = (await shop.as(null).get(`/api/products/${id}`)).json
  expect([rating, variants[0].stock]).toEqual([null, null])
})

test.each([
  ['fails', async () => Promise.reject(new Error('no labels today'))],
  ['returns too few values', async () => []],
  ['returns a value that the schema does not allow', async (ids: readonly string[]) => ids.map(() => 'many')]
])('a page shows null for a field whose module %s; the failure is logged and counted', async (_, load) => {
  const schema = Type.Integer()
  const labels = createLabels(
    { ...label(productResource, 'public'), schema, load },
    { ...label(productResource, 'admin'), schema, load }
  )
  const shop = await useLabels(labels)
  const { id } = await createProduct(shop)
  for (const path of [`/api/products/${id}`, `/api/catalog/products/${id}`]) {
    const { status, json } = await shop.admin.get(path)
    expect([status, json.label]).toEqual([200, null])
  }
  expect(shop.log.filter(line => line.includes('catalog.product.label'))).not.toEqual([])
  const { families } = readExposition((await shop.request('GET', '/metrics')).text)
  const [failures] =
    families
      .get('cartwright_resource_field_failures_total')
      ?.samples.filter(({ labels }) => labels.field === 'catalog.product.label') ?? []
  expect(failures?.value).toBeGreaterThan(1)
})

test('a hanging module delays a page by its deadline once; later pages do not wait for it', async () => {
  const loading = Promise.withResolvers<void>()
  const load = () => {
    loading.resolve()
    return new Promise<never>(() => {})
  }
  const labels = createLabels({ ...label(productResource, 'public'), load })
  const shop = await useLabels(labels)
  const { id } = await createProduct(shop)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const read = () => shop.guest.get(`/api/products/${id}`)
    const first = read()
    await loading.promise
    await vi.advanceTimersByTimeAsync(2_000)
    expect((await first).json.label).toBe(null)
    expect(labels.loads()).toHaveLength(1)
    expect((await read()).json.label).toBe(null)
    expect(labels.loads()).toEqual([])
  } finally {
    vi.useRealTimers()
  }
})

test('field names that a resource has, that two modules add, or that are no names stop the start', async () => {
  const other = { ...createLabels(label(productResource, 'admin')).module, name: 'tags' }
  const databaseUrl = await useTestDatabaseUrl()
  const start = (labels: Labels, ...others: (typeof other)[]) =>
    useShop({ databaseUrl, modules: [catalogModule, labels.module, ...others] })
  const one = (field: string) => createLabels({ ...label(productResource, 'public'), field })
  await expect(start(one('brand'))).rejects.toThrow(
    'module labels adds the field catalog.product.brand, which catalog.product has itself: choose another name'
  )
  await expect(start(one('label'), other)).rejects.toThrow(
    'module tags adds the field catalog.product.label, which module labels adds too: choose another name'
  )
  await expect(start(one('Label'))).rejects.toThrow(
    'module labels adds the field catalog.product.Label, whose name must consist of lower-case letters, digits and _'
  )
})
