import { expect, test } from 'vitest'
import { createProduct } from '../../../../test/support/catalog.ts'
import { itemOf, STOCKHOLM } from '../../../../test/support/checkouts.ts'
import { useOrders } from '../../../../test/support/orders.ts'
import { customer } from '../../../testing.ts'

test('the response to a new order equals a later read of it, and takes no additional read', async () => {
  const shop = await useOrders()
  const { id: zone_id } = await shop.made('taxes/zones', { name: 'Sweden', country: 'SE' })
  await shop.made('taxes/rates', { zone_id, category: 'standard', name: 'Moms', rate_ppm: 250_000 })
  const ticket = await shop.sell({ price: 300, requires_shipping: false })
  const { variants } = await createProduct(shop, {
    options: [
      { name: 'Size', values: ['Large'] },
      { name: 'No', values: ['One'] }
    ],
    variants: [{ sku: crypto.randomUUID(), price: 1_234, attributes: { Size: 'Large', No: 'One' } }]
  })
  const buyer = shop.as(customer())
  const items = [itemOf(ticket, 2), itemOf(variants[0].id, 3), itemOf(shop.mug)]
  const billing_address = { ...STOCKHOLM, company: 'Acme AB' }
  const body = { items, billing_address, shipping_address: STOCKHOLM, note: 'Ring twice.' }
  const { result, statements } = await shop.record(() => buyer.post('/api/orders', body))
  const { status, text, json } = result
  expect(status, text).toBe(201)
  expect(statements).not.toContain('orders.find_order')
  expect(json.groups).toHaveLength(2)
  expect((await buyer.get(`/api/orders/${json.id}`)).text).toEqual(text)
})
