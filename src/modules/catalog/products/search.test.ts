import { expect, test } from 'vitest'
import { createProduct, useCatalog } from '../../../../test/support/catalog.ts'
import { productSearchLikePatterns } from './search.ts'

test.each([
  ['Çrème', ['%creme%']],
  ['100%_\\', ['%100\\%\\_\\\\%']],
  ['%_\\', []],
  ['...', []]
])('the product search text %s is searched with the patterns %j', (q, patterns) => {
  expect(productSearchLikePatterns(q)).toEqual(patterns)
})

test('a product search of fewer than three letters in a row finds the beginning of words and SKUs', async () => {
  const app = await useCatalog()
  const named = (name: string, sku: string) => createProduct(app, { name, variants: [{ sku, price: 1 }] })
  await named('Smart TV', 'A-1')
  await named('TV-Board', 'A-2')
  await named('Chair (tv room)', 'A-3')
  await named('Atv', 'A-4')
  await named('Lamp', 'X_TV')
  await named('Shirt C++', 'A-6')
  const found = async (q: string) => {
    const path = `?q=${encodeURIComponent(q)}&count=true`
    const [shown, all] = await Promise.all([
      app.request('GET', `/api/products${path}`),
      app.request('GET', `/api/catalog/products${path}`, { token: 'admin' })
    ])
    expect(all.json.items.map(({ name }: { name: string }) => name)).toEqual(
      shown.json.items.map(({ name }: { name: string }) => name)
    )
    expect([all.json.total, shown.json.total]).toEqual(Array(2).fill(shown.json.items.length))
    return shown.json.items.map(({ name }: { name: string }) => name).toSorted()
  }
  expect(await found('TV')).toEqual(['Chair (tv room)', 'Lamp', 'Smart TV', 'TV-Board'])
  expect(await found('c++')).toEqual(['Shirt C++'])
  expect(await found('l')).toEqual(['Lamp'])
  expect(await found('art')).toEqual(['Smart TV'])
  expect(await found('%_\\')).toEqual([])
})
