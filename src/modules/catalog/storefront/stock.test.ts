import { expect, test } from 'vitest'
import { createProduct, useCatalog } from '../../../../test/support/catalog.ts'
import { fakeInventory } from '../../inventory/fake.ts'

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
