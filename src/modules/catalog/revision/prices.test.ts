import { expect, test, vi } from 'vitest'
import {
  createCategory,
  createDiscount,
  createProduct,
  useCatalog
} from '../../../../test/support/catalog.ts'
import { csvOf, importFile, sized } from '../../../../test/support/csv.ts'
import { repriceAll } from './prices.ts'

test('prices that nobody brought up to date are healed by the job, in another currency too', async () => {
  const app = await useCatalog()
  const variants = [
    { sku: 'A', price: 900 },
    { sku: 'B', price: 500, currency: 'EUR' }
  ]
  await createProduct(app, { variants })
  const { db } = app.platform
  expect(await repriceAll(db, 'USD')).toBe(0)
  expect(await repriceAll(db, 'EUR')).toBe(1)
  const found = async (query: string) =>
    (await app.request('GET', `/api/products?${query}`)).json.items.length
  expect([await found('max_price=500&sort=price'), await found('min_price=501&sort=price')]).toEqual([1, 0])
  expect(await repriceAll(db, 'USD')).toBe(1)
})

test('when a discount on very many products starts, they are all sorted by their new prices soon', async () => {
  const app = await useCatalog()
  const rows = Array.from({ length: 2_100 }, (_, index) => ({ ...sized(`p${index}`, 'S'), Type: 'All' }))
  await importFile(app, csvOf(rows))
  const all = (await app.request('GET', '/api/categories/all')).json
  await createCategory(app, 'Other')
  const starts_at = new Date(Date.now() + 500).toISOString()
  await createDiscount(app, { scope: 'category', target_id: all.id, percentage_ppm: 500_000, starts_at })
  const count = async () => (await app.request('GET', '/api/products?max_price=500&count=true')).json.total
  expect(await count()).toBeGreaterThanOrEqual(0)
  await vi.waitFor(async () => expect(await count()).toBe(2_100), { timeout: 10_000, interval: 50 })
})
