import { expect, test } from 'vitest'
import { useShopOfAllModules } from './never/use-everything.ts'

/** What clients may make of a part of a cursor: other types, and values that no row has. */
const FORGED = [
  ...['x', '', 'NaN', 'infinity', '9999-99-99', '294277-01-01', "'", '9'.repeat(30), 'A'.repeat(1_000)],
  ...['00000000-0000-0000-0000-000000000000', 0, -1, 40_000, 2 ** 31, -(2 ** 31) - 1],
  ...[Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 0.5, null, true, [], {}]
]

test('a manipulated cursor of any list is rejected, or gives a valid page of the list', async () => {
  const { admin, register, sell } = await useShopOfAllModules()
  const made = async (path: string, body: object): Promise<string> => {
    const { status, json, text } = await admin.post(path, body)
    expect(status, text).toBe(201)
    return json.id
  }
  const product = await sell()
  await sell()
  const [variant_id] = product.variants.map(({ id }: { id: string }) => id)
  const list = await made('/api/admin/price-lists', { name: 'List', currency: 'EUR' })
  const prices = [1, 10].map(from_quantity => ({ variant_id, from_quantity, price: 900 }))
  expect((await admin.put(`/api/admin/price-lists/${list}/prices`, { prices })).status).toBe(204)
  for (const name of ['one', 'two']) {
    await made('/api/inventory/locations', { code: name, name })
    await made('/api/admin/shipping/methods', { kind: 'pickup', service: name })
    await made('/api/admin/shipping/carriers', { code: name, name })
    await register()
  }
  for (const path of [
    ...['/api/admin/audit', '/api/admin/users', '/api/admin/shipping/methods'],
    ...['/api/admin/shipping/carriers', '/api/inventory/locations', '/api/inventory/items'],
    ...[
      `/api/admin/price-lists/${list}/prices`,
      `/api/admin/price-lists/${list}/prices?variant_id=${variant_id}`
    ],
    ...['/api/admin/users', '/api/catalog/products'].map(
      path => `${path}?updated_since=1970-01-01T00:00:00Z`
    ),
    ...['newest', 'name', 'price', '-price'].map(sort => `/api/products?sort=${sort}`)
  ]) {
    const page = (cursor: string) =>
      admin.get(`${path}${path.includes('?') ? '&' : '?'}limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`)
    const { next_cursor } = (await page('')).json
    const place: unknown[] = JSON.parse(Buffer.from(next_cursor ?? 'W10', 'base64url').toString())
    expect(place.length, path).toBeGreaterThan(1)
    for (const index of place.keys())
      for (const part of FORGED) {
        const forged = JSON.stringify(place.with(index, part))
        const { status } = await page(Buffer.from(forged).toString('base64url'))
        expect([200, 400], `${path} ${forged}`).toContain(status)
      }
  }
})
