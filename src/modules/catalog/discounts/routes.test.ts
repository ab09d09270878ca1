import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type CatalogApp,
  createCategory,
  createDiscount,
  createProduct,
  useCatalog
} from '../../../../test/support/catalog.ts'
import { eventually } from '../../../../test/support/eventually.ts'
import { needsOwnShop, shareShops } from '../../../../test/support/shared-shops.ts'
import { newId } from '../../../kernel/ids.ts'

shareShops()

const admin = { token: 'admin' }
const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString()

async function prices(app: CatalogApp, slug = 'mug'): Promise<number[]> {
  const { json } = await app.request('GET', `/api/products/${slug}`)
  return json.variants.map((variant: { discounted_price: number }) => variant.discounted_price)
}

test('a discount applies to a product, a variant, or a category with those below it', async () => {
  const app = await useCatalog()
  const home = await createCategory(app, 'Home')
  const kitchen = await createCategory(app, 'Kitchen', home.id)
  const variants = [
    { sku: 'A', price: 1_000 },
    { sku: 'B', price: 2_000 }
  ]
  const product = await createProduct(app, { slug: 'mug', category_ids: [kitchen.id], variants })
  await createProduct(app, { slug: 'other' })
  await createDiscount(app, { scope: 'category', target_id: home.id, percentage_ppm: 100_000 })
  expect(await prices(app)).toEqual([900, 1_800])
  await createDiscount(app, { scope: 'product', target_id: product.id, amount: 150 })
  expect(await prices(app)).toEqual([850, 1_800])
  await createDiscount(app, { scope: 'variant', target_id: product.variants[1].id, percentage_ppm: 500_000 })
  expect(await prices(app)).toEqual([850, 1_000])
  expect(await prices(app, 'other')).toEqual([1_000])
})

test('a discount is listed, updated and deleted, and prices change with it', async () => {
  needsOwnShop()
  const app = await useCatalog()
  const product = await createProduct(app, { slug: 'mug' })
  const made = await createDiscount(app, { scope: 'product', target_id: product.id, amount: 100 })
  expect(made).toMatchObject({
    scope: 'product',
    target_id: product.id,
    amount: 100,
    percentage_ppm: null,
    currency: 'USD',
    ends_at: null,
    active: true
  })
  const patch = (body: unknown) =>
    app.request('PATCH', `/api/catalog/discounts/${made.id}`, { ...admin, body })
  expect((await patch({ percentage_ppm: 250_000 })).json).toMatchObject({
    amount: null,
    percentage_ppm: 250_000
  })
  expect(await prices(app)).toEqual([750])
  await patch({ active: false })
  expect(await prices(app)).toEqual([1_000])
  await patch({ active: true, starts_at: ago(20), ends_at: ago(10) })
  expect(await prices(app)).toEqual([1_000])
  await patch({ ends_at: null })
  expect(await prices(app)).toEqual([750])
  expect((await patch({ ends_at: ago(30) })).json).toMatchObject({
    status: 400,
    code: 'CATALOG_DISCOUNT_PERIOD',
    errors: [{ path: 'body/ends_at', message: 'must be after the start' }]
  })
  expect((await patch({ amount: 1, percentage_ppm: 1 })).status).toBe(400)

  const list = (await app.request('GET', '/api/catalog/discounts?count=true', admin)).json
  expect(list).toMatchObject({
    total: 1,
    items: [{ id: made.id, percentage_ppm: 250_000 }],
    next_cursor: null
  })
  const remove = () => app.request('DELETE', `/api/catalog/discounts/${made.id}`, admin)
  expect((await remove()).status).toBe(204)
  expect((await remove()).json.code).toBe('CATALOG_DISCOUNT_NOT_FOUND')
  expect(await prices(app)).toEqual([1_000])
})

test('a discount needs an existing target, one kind of value, and valid times', async () => {
  const app = await useCatalog()
  const product = await createProduct(app)
  const post = async (fields: object) => {
    const body = { name: 'Less', scope: 'product', target_id: product.id, ...fields }
    return (await app.request('POST', '/api/catalog/discounts', { ...admin, body })).json
  }
  for (const scope of ['product', 'variant', 'category'])
    expect(await post({ scope, target_id: newId(), amount: 1 })).toMatchObject({
      status: 404,
      code: 'CATALOG_TARGET_NOT_FOUND'
    })
  for (const fields of [
    {},
    { amount: 1, percentage_ppm: 1 },
    { amount: 0 },
    { percentage_ppm: 1_000_001 },
    { amount: 1, starts_at: 'yesterday' },
    { amount: 1, starts_at: '2026-02-30T00:00:00Z' },
    { amount: 1, starts_at: '2026-06-30T23:59:60Z' },
    { amount: 1, starts_at: '0000-01-01T00:00:00Z' },
    { amount: 1, ends_at: ago(5) }
  ])
    expect([fields, (await post(fields)).status]).toEqual([fields, 400])
})

test('a product list sorted by price is right when a discount has just started or ended', async () => {
  needsOwnShop()
  const app = await useCatalog()
  await createProduct(app, { name: 'Cheap', variants: [{ sku: 'C', price: 500 }] })
  const dear = await createProduct(app, { name: 'Dear', variants: [{ sku: 'D', price: 900 }] })
  const order = async () => {
    const { items } = (await app.request('GET', '/api/products?sort=price')).json
    return items.map((item: { name: string; discounted_price: number }) => [item.name, item.discounted_price])
  }
  const withoutDiscount = [
    ['Cheap', 500],
    ['Dear', 900]
  ]
  const withDiscount = [
    ['Dear', 300],
    ['Cheap', 500]
  ]
  const target = { scope: 'product', target_id: dear.id, amount: 600 }
  expect(await order()).toEqual(withoutDiscount)
  const { id } = await createDiscount(app, { ...target, starts_at: ago(-1) })
  await order()
  await eventually(async () => expect(await order()).toEqual(withDiscount))
  await app.request('PATCH', `/api/catalog/discounts/${id}`, { ...admin, body: { ends_at: ago(-1) } })
  await order()
  await eventually(async () => expect(await order()).toEqual(withoutDiscount))
})

test('SQL and TypeScript compute the same discounted prices', async () => {
  const app = await useCatalog()
  const small = fc.integer({ min: 0, max: 2_000 })
  const discount = fc.record({
    isShare: fc.boolean(),
    ppm: fc.integer({ min: 1, max: 1_000_000 }),
    amount: fc.integer({ min: 1, max: 2_000 }),
    when: fc.constantFrom('now', 'later', 'over'),
    scope: fc.constantFrom('product', 'variant', 'category')
  })
  let runs = 0
  await fc.assert(
    fc.asyncProperty(
      small,
      fc.option(small),
      fc.array(discount, { maxLength: 4 }),
      async (price, below, discounts) => {
        runs += 1
        const sale = below === null ? null : Math.max(0, price - below)
        const category = await createCategory(app, `Category ${runs}`)
        const product = await createProduct(app, {
          category_ids: [category.id],
          variants: [{ sku: `S${runs}`, price, sale_price: sale }]
        })
        const targets = { product: product.id, variant: product.variants[0].id, category: category.id }
        for (const { isShare, ppm, amount, when, scope } of discounts) {
          await createDiscount(app, {
            scope,
            target_id: targets[scope],
            ...(isShare ? { percentage_ppm: ppm } : { amount }),
            starts_at: ago(when === 'later' ? -3_600 : 60),
            ends_at: ago(when === 'over' ? 30 : -7_200)
          })
        }
        const [shown] = await prices(app, product.slug)
        const { items } = (
          await app.request(
            'GET',
            `/api/products?min_price=${shown}&max_price=${shown}&category=${category.slug}`
          )
        ).json
        expect(items).toMatchObject([{ id: product.id, discounted_price: shown }])
      }
    ),
    { numRuns: 25 }
  )
})
