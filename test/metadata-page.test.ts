import { expect, test } from 'vitest'
import { customer } from '../src/testing.ts'
import { useOrders } from './support/orders.ts'
import { runExamples } from './support/page-examples.ts'

test('the examples of docs/metadata.md run in their order', async () => {
  const shop = await useOrders()
  const shown = await runExamples('metadata.md', {
    origin: await shop.listen(),
    tells: ['cart', 'changed', 'checkout', 'order', 'noted', 'found'],
    env: { ADMIN_TOKEN: 'admin', TOKEN: customer().token, VARIANT_ID: shop.mug }
  })
  const ordered = { channel: 'app', wrapping: 'red', campaign: 'autumn' }
  expect(shown).toMatchObject({
    cart: { metadata: { channel: 'app', gift_note: 'For Ada' } },
    checkout: { metadata: { wrapping: 'red', campaign: 'autumn' } },
    noted: { metadata: { ...ordered, erp_number: '4711' }, private_metadata: { margin: 'low' } },
    found: { items: [{ id: shown.order.id }] }
  })
  expect([shown.changed.metadata, shown.order.metadata]).toEqual([
    { channel: 'app', wrapping: 'blue' },
    ordered
  ])
})
