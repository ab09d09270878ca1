import { expect, test } from 'vitest'
import { catalogModule } from '../src/modules/catalog/index.ts'
import { type PricingApi, pricingModule } from '../src/modules/pricing/index.ts'
import { runExamples } from './support/page-examples.ts'
import { useShop } from './support/use-shop.ts'

test('the examples of docs/pricing.md run in their order', async () => {
  const shop = await useShop({ modules: [pricingModule, catalogModule] })
  const product = { name: 'Mug', status: 'active', variants: [{ sku: 'MUG', price: 1_800 }] }
  expect((await shop.as({ token: 'admin' }).post('/api/catalog/products', product)).status).toBe(201)
  const origin = await shop.listen()
  const said = await runExamples('pricing.md', {
    origin,
    tells: [
      'changed',
      'markets',
      'variantId',
      'members',
      'promotion',
      'batch',
      'total',
      'stopped',
      'price',
      'findings',
      'books',
      'imported',
      'uploaded',
      'exemption'
    ],
    env: { ADMIN_TOKEN: 'admin' }
  })
  expect(said).toMatchObject({
    changed: { countries: ['DE', 'AT', 'LU'], version: 2 },
    markets: [{ code: 'de', currency: 'EUR' }, { code: 'default' }],
    promotion: { ends_at: '2026-12-25T00:00:00.000Z', uses_left: 500 },
    batch: { count: 100 },
    total: 100,
    stopped: { code: 'HELLO-2026', active: false },
    price: 1_990,
    findings: [{ code: 'CODE_UNKNOWN' }, { code: 'CODE_UNKNOWN' }],
    books: { code: 'books' },
    imported: { rows: 1 },
    uploaded: { rows: 1 },
    exemption: { countries: ['SE', 'FI'], ends_at: '2028-01-01T00:00:00.000Z' }
  })
  const { markets, prices, readRules: rules } = shop.apiOf(pricingModule) as PricingApi
  const germany = await markets.resolve({ country: 'LU' })
  const wanted = [1, 10, 100].map(quantity => ({ variantId: said.variantId, quantity }))
  const pricesIn = (priceListId: string | null) => prices(wanted, { priceListId })
  expect(await pricesIn(germany.priceListId)).toEqual([1_990, 1_790, 1_550])
  const { taxZones } = await rules({ codes: [], customer: null })
  expect(taxZones.get('DE')).toMatchObject([{ rates: [{ ppm: 190_000 }, { ppm: 70_000 }] }])
  expect(await pricesIn(said.members.id)).toEqual([1_791, 1_611, 1_395])
})
