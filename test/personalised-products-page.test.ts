import { expect, test } from 'vitest'
import { customer } from '../src/testing.ts'
import { useOrders } from './support/orders.ts'
import { runExamples } from './support/page-examples.ts'

test('the examples of docs/personalised-products.md run in their order', async () => {
  const shop = await useOrders()
  const tells = ['cart', 'bob', 'changed', 'checkout', 'ofBob', 'order', 'line', 'shipped', 'slip']
  const shown = await runExamples('personalised-products.md', {
    origin: await shop.listen(),
    tells,
    env: { ADMIN_TOKEN: 'admin', TOKEN: customer().token, VARIANT_ID: shop.mug }
  })
  const bobs = { engraving: 'Bob', font: 'serif' }
  expect(shown).toMatchObject({
    cart: { items: [{ metadata: { engraving: 'Ada' } }, { metadata: { engraving: 'Bob' } }] },
    changed: { items: [{ quantity: 2 }, { id: shown.bob.id, quantity: 3, metadata: bobs }] },
    checkout: { items: [{ quantity: 2 }, { id: shown.bob.id, quantity: 3, metadata: bobs }] },
    order: { items: [{ quantity: 2 }, { line_id: shown.bob.id, quantity: 3, metadata: bobs }] },
    shipped: { items: [{ fulfilled: 0 }, { id: shown.line, fulfilled: 3 }] },
    slip: { lines: [{ line: shown.line, quantity: 3, metadata: bobs }] }
  })
  expect(shown.ofBob.length).toBeGreaterThan(0)
})
