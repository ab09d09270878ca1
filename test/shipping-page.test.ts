import { expect, test } from 'vitest'
import { catalogModule } from '../src/modules/catalog/index.ts'
import { shippingModule } from '../src/modules/shipping/index.ts'
import { createProduct } from './support/catalog.ts'
import { runExamples } from './support/page-examples.ts'
import { useShop } from './support/use-shop.ts'

test('the examples of docs/shipping.md run in their order', async () => {
  const shop = await useShop({ modules: [catalogModule, shippingModule] })
  await createProduct(shop, { status: 'active', variants: [{ sku: 'MUG', price: 1_800, weight_grams: 300 }] })
  const origin = await shop.listen()
  const said = await runExamples('shipping.md', {
    origin,
    tells: ['rates', 'abroad'],
    env: { ADMIN_TOKEN: 'admin' }
  })
  const pickup = { method: 'pickup', amount: 0 }
  expect(said).toMatchObject({
    rates: [pickup, { method: 'shipping', amount: 490, estimated_days: { min: 2, max: 4 } }],
    abroad: { rates: [pickup, { service: 'Standard', amount: 1_990 }] }
  })
})
