import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileAnswer } from '../../../../test/support/answer-schema.ts'
import { createProduct, useCatalog } from '../../../../test/support/catalog.ts'
import { listOf } from '../../../kernel/wire.ts'
import { createPageRatingFiller, type ProductRatingSummary } from './page-fields.ts'
import { ProductSummaryResponse } from './schema.ts'

const faultsOf = compileAnswer(listOf(ProductSummaryResponse))
const hostile = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('"rating":null', '","rating":null,"', '\\"rating":null', 'rating', '$&', '\u2028')
)
const summary = fc.record({
  id: fc.uuid(),
  slug: hostile,
  name: hostile,
  brand: fc.option(hostile),
  image_url: fc.option(hostile),
  price: fc.option(fc.nat()),
  discounted_price: fc.option(fc.nat()),
  currency: fc.constant('USD'),
  variant_count: fc.nat(),
  in_stock: fc.boolean(),
  tags: fc.array(hostile),
  rating: fc.constant(null),
  created_at: fc.constant(new Date(0).toISOString())
})
const list = fc.uniqueArray(summary, { maxLength: 6, selector: each => each.id })
const rating = fc.record({ average: fc.option(fc.constantFrom(1, 3.67, 5)), count: fc.nat() })

test('ratings are inserted into any product list at the right places, and nothing else changes', async () => {
  await fc.assert(
    fc.asyncProperty(
      list,
      fc.array(rating, { minLength: 6, maxLength: 6 }),
      fc.boolean(),
      async (items, ratings, isKept) => {
        const pages = createPageRatingFiller()
        const kept = JSON.stringify({ items, next_cursor: null })
        expect(await pages.inList(kept, isKept)).toBe(kept)
        const ratingOf = new Map(items.map(({ id }, index) => [id, ratings[index] as ProductRatingSummary]))
        pages.register(async ids => ids.map(id => ratingOf.get(id) as ProductRatingSummary))
        const shown = await pages.inList(kept, isKept)
        expect(faultsOf(JSON.parse(shown))).toEqual([])
        const rated = items.map(item => ({ ...item, rating: ratingOf.get(item.id) }))
        expect(shown).toBe(JSON.stringify({ items: rated, next_cursor: null }))
      }
    ),
    { numRuns: 200 }
  )
})

test('product pages and lists show current ratings, cached or not, and none without a reviews module', async () => {
  const app = await useCatalog()
  const { id } = await createProduct(app, { slug: 'mug', name: 'Mug' })
  const other = await createProduct(app, { name: 'Jug' })
  const read = async () => [
    (await app.request('GET', '/api/products/mug')).json.rating,
    ...(await app.request('GET', '/api/products?sort=name')).json.items.map(
      (item: { rating: unknown }) => item.rating
    ),
    ...(await app.request('GET', '/api/products?q=mug')).json.items.map(
      (item: { rating: unknown }) => item.rating
    )
  ]
  expect(await read()).toEqual([null, null, null, null])
  const unrated = { average: null, count: 0 }
  const ratingOf = new Map<string, ProductRatingSummary>([[other.id, unrated]])
  app.catalog.registerRatings(async ids => ids.map(each => ratingOf.get(each) ?? unrated))
  expect(await read()).toEqual(Array(4).fill(unrated))
  ratingOf.set(id, { average: 4.5, count: 2 })
  const rated = { average: 4.5, count: 2 }
  expect(await read()).toEqual([rated, unrated, rated, rated])
})
