import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileAnswer } from '../../../../test/support/answer-schema.ts'
import { createProduct, useCatalog } from '../../../../test/support/catalog.ts'
import { newId } from '../../../kernel/ids.ts'
import { fakeInventory } from '../../inventory/fake.ts'
import { createPageStockFiller } from './page-fields.ts'
import { type ProductResponse as Product, ProductResponse } from './schema.ts'

const faultsOf = compileAnswer(ProductResponse)

const hostile = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('"stock":null', '","stock":null,"', '\\"stock":null', '"stock":', 'stock', '$&', '\u2028')
)
const variant = fc.record({
  id: fc.uuid(),
  sku: hostile,
  name: hostile,
  price: fc.nat(),
  discounted_price: fc.nat(),
  currency: fc.constant('USD'),
  attributes: fc.dictionary(hostile, hostile),
  image_url: fc.option(hostile),
  stock: fc.constant(null),
  weight_grams: fc.option(fc.nat()),
  barcode: fc.option(hostile),
  quantity_min: fc.constant(1),
  quantity_max: fc.option(fc.nat()),
  quantity_step: fc.constant(1),
  metadata: fc.dictionary(hostile, hostile)
})
const product = fc.record({
  id: fc.uuid(),
  slug: hostile,
  name: hostile,
  description: hostile,
  brand: fc.option(hostile),
  currency: fc.constant('USD'),
  tags: fc.array(hostile),
  options: fc.array(fc.record({ name: hostile, values: fc.array(hostile) })),
  images: fc.array(fc.record({ url: hostile, alt: fc.option(hostile), position: fc.nat() })),
  categories: fc.array(fc.record({ id: fc.uuid(), slug: hostile, name: hostile })),
  variants: fc.uniqueArray(variant, { maxLength: 6, selector: each => each.id }),
  rating: fc.constant(null),
  metadata: fc.dictionary(hostile, hostile),
  created_at: fc.constant(new Date(0).toISOString()),
  updated_at: fc.constant(new Date(0).toISOString())
})

test('the stock is inserted into any product page at the right places, and nothing else changes', async () => {
  await fc.assert(
    fc.asyncProperty(
      product,
      fc.array(fc.option(fc.nat()), { minLength: 6, maxLength: 6 }),
      async (page, numbers) => {
        const inventory = fakeInventory()
        const withStock = createPageStockFiller(inventory)
        const kept = JSON.stringify(page)
        expect(await withStock(kept)).toBe(kept)
        for (const [index, { id }] of page.variants.entries()) inventory.put(id, numbers[index] ?? null)
        const shown = JSON.parse(await withStock(kept)) as Product
        expect(faultsOf(shown)).toEqual([])
        const variants = page.variants.map((each, index) => ({ ...each, stock: numbers[index] ?? null }))
        // The order of members is the same, too.
        expect(JSON.stringify(shown)).toBe(JSON.stringify({ ...page, variants }))
      }
    ),
    { numRuns: 300 }
  )
})

test('a cached product page shows each change of its stock, also to untracked', async () => {
  const inventory = fakeInventory()
  const withStock = createPageStockFiller(inventory)
  const [a, b] = [newId(), newId()]
  const kept = JSON.stringify({ variants: [a, b].map(id => ({ id, stock: null })) })
  inventory.put(b, 3)
  const text = await withStock(kept)
  expect(text).toBe(kept.replace(/null(?=}]})/, '3'))
  expect(await withStock(kept)).toBe(text)
  inventory.put(b, 2)
  inventory.put(a, 0)
  expect(JSON.parse(await withStock(kept)).variants).toEqual([
    { id: a, stock: 0 },
    { id: b, stock: 2 }
  ])
  inventory.put(a, null)
  inventory.put(b, null)
  expect(await withStock(kept)).toBe(kept)
})

test('a product page shows the current stock, and its ETag changes with the stock', async () => {
  const inventory = fakeInventory()
  const app = await useCatalog({}, undefined, inventory)
  const { id, variants } = await createProduct(app, {
    variants: [
      { sku: 'A', price: 100 },
      { sku: 'B', price: 100 }
    ]
  })
  const read = () => app.request('GET', `/api/products/${id}`)
  const stocks = async () => (await read()).json.variants.map((each: { stock: number | null }) => each.stock)
  expect(await stocks()).toEqual([null, null])
  const { etag } = (await read()).headers
  inventory.put(variants[1].id, 7)
  expect(await stocks()).toEqual([null, 7])
  const counted = (await read()).headers.etag as string
  expect(counted).not.toBe(etag)
  const conditional = { headers: { 'if-none-match': counted } }
  expect((await app.request('GET', `/api/products/${id}`, conditional)).status).toBe(304)
  inventory.put(variants[1].id, 0)
  expect((await app.request('GET', `/api/products/${id}`, conditional)).status).toBe(200)
  expect(await stocks()).toEqual([null, 0])
})
