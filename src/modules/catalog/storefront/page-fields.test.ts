import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newId } from '../../../kernel/ids.ts'
import type { ReadableField, Resource } from '../../../kernel/resources.ts'
import { productResource } from '../products/fields.ts'
import { variantResource } from '../variants/schema.ts'
import { createPageFields, type PageFields } from './page-fields.ts'

type Values = Map<string, unknown>

/** A field whose values are in the hands of the test. `undefined`: they cannot be loaded. */
const fieldOf = (resource: Resource, field: string, values: Values | undefined, isEnabled = true) => ({
  resource,
  name: `${resource.name}.${field}`,
  field,
  schema: {},
  isEnabled,
  loaded: [] as (readonly string[])[],
  async load(ids: readonly string[]) {
    this.loaded.push(ids)
    return values && ids.map(id => values.get(id) ?? null)
  },
  stringify: (value: unknown) => JSON.stringify(value)
})
type Field = ReturnType<typeof fieldOf>

const pageFieldsOf = (...fields: Field[]) =>
  createPageFields(
    resource => fields.filter(each => each.resource === resource) as readonly ReadableField[],
    [productResource, variantResource]
  )

/** Fills a cached page. */
const fill = async (pageFields: PageFields, json: string) =>
  (await pageFields.fill({ json, isCurrent: () => true, changesInMs: () => 0 })).json

const hostile = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(
    '"rating":null',
    '\\u0000catalog.product.rating:019f0000-0000-7000-8000-000000000000',
    '"\\u0000catalog.product.rating:019f0000-0000-7000-8000-000000000000"',
    '\\',
    '"',
    'catalog.variant.stock',
    '$&',
    '\u2028'
  )
)
const product = fc.record({
  id: fc.uuid(),
  name: hostile,
  attributes: fc.dictionary(hostile, hostile),
  variants: fc.uniqueArray(fc.record({ id: fc.uuid(), sku: hostile }), {
    maxLength: 4,
    selector: each => each.id
  })
})
const products = fc.uniqueArray(product, { maxLength: 4, selector: each => each.id })

test('values are filled into any page at the places of their objects, and nothing else changes', async () => {
  await fc.assert(
    fc.asyncProperty(
      products,
      fc.array(fc.oneof(hostile, fc.nat(), fc.constant(null)), { minLength: 20, maxLength: 20 }),
      fc.boolean(),
      async (items, given, isKept) => {
        const next = () => given.pop() ?? null
        const ratings = new Map<string, unknown>(items.map(({ id }) => [id, next()]))
        const stock = new Map<string, unknown>(
          items.flatMap(({ variants }) => variants.map(({ id }) => [id, next()] as const))
        )
        const pageFields = pageFieldsOf(
          fieldOf(productResource, 'rating', ratings),
          fieldOf(variantResource, 'stock', stock),
          fieldOf(variantResource, 'name', undefined, false)
        )
        const pageWith = (membersOf: (resource: Resource, id: string) => object) =>
          JSON.stringify({
            items: items.map(({ id, variants, ...rest }) => ({
              id,
              variants: variants.map(each => ({ ...each, ...membersOf(variantResource, each.id) })),
              ...membersOf(productResource, id),
              ...rest
            }))
          })
        const filled = pageWith((resource, id) =>
          resource === productResource
            ? { rating: ratings.get(id) }
            : { stock: stock.get(id) ?? null, name: null }
        )
        const page = pageWith(pageFields.placesOf)
        const isCurrent = isKept ? () => true : undefined
        for (let times = 0; times < 2; times += 1)
          expect((await pageFields.fill({ json: page, isCurrent, changesInMs: () => 0 })).json).toBe(filled)
      }
    ),
    { numRuns: 200 }
  )
})

test('each field is loaded once for all objects of a page', async () => {
  const rating = fieldOf(productResource, 'rating', new Map())
  const pageFields = pageFieldsOf(rating)
  const ids = [newId(), newId(), newId()]
  await fill(pageFields, JSON.stringify(ids.map(id => pageFields.placesOf(productResource, id))))
  expect(rating.loaded).toEqual([ids])
})

test('a filled page is the same string until a value changes', async () => {
  const [a, b] = [newId(), newId()]
  const values: Values = new Map([[a, { count: 1 }]])
  const pageFields = pageFieldsOf(fieldOf(productResource, 'rating', values))
  const page = JSON.stringify([a, b].map(id => pageFields.placesOf(productResource, id)))
  const before = await fill(pageFields, page)
  expect(before).toBe('[{"rating":{"count":1}},{"rating":null}]')
  values.set(b, 2)
  expect(await fill(pageFields, page)).toBe('[{"rating":{"count":1}},{"rating":2}]')
  values.delete(b)
  expect(await fill(pageFields, page)).toBe(before)
})

test('values that cannot be loaded are null in a page, and appear when they can be loaded', async () => {
  const id = newId()
  let values: Values | undefined = new Map([[id, 1]])
  const rating = fieldOf(productResource, 'rating', values)
  rating.load = async ids => values && ids.map(each => values?.get(each) ?? null)
  const pageFields = pageFieldsOf(rating)
  const page = JSON.stringify(pageFields.placesOf(productResource, id))
  expect(await fill(pageFields, page)).toBe('{"rating":1}')
  const loadable = values
  values = undefined
  expect(await fill(pageFields, page)).toBe('{"rating":null}')
  values = loadable
  expect(await fill(pageFields, page)).toBe('{"rating":1}')
})

test('processes with other fields of pages do not share cached pages', () => {
  const rating = fieldOf(productResource, 'rating', new Map())
  const keys = [
    pageFieldsOf(),
    pageFieldsOf(rating),
    pageFieldsOf(rating, fieldOf(variantResource, 'stock', new Map()))
  ].map(each => each.cacheKey())
  expect(new Set(keys).size).toBe(3)
})
