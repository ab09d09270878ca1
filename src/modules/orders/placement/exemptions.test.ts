import { expect, test } from 'vitest'
import { sent, useOrders } from '../../../../test/support/orders.ts'
import { customer } from '../../../testing.ts'

const ACME = { company: 'Acme AB', vat_id: 'SE556012579001', reason: 'Export' }

test('an order keeps its tax exemption when that changes later', async () => {
  const { as, made, admin, mug } = await useOrders()
  const { id: zone_id } = await made('taxes/zones', { name: 'Sweden', country: 'SE' })
  await made('taxes/rates', { zone_id, category: 'standard', name: 'Moms', rate_ppm: 250_000 })
  const [exempt, other] = [customer(), customer()]
  const { id } = await made('taxes/exemptions', { customer_id: exempt.id, ...ACME })
  const place = async (buyer: typeof exempt, expected_total: number) => {
    const answer = await as(buyer).post('/api/orders', { ...sent(mug), expected_total })
    expect(answer.status, answer.text).toBe(201)
    return answer.json
  }
  const order = await place(exempt, 1_490)
  expect(order).toMatchObject({ total: 1_490, tax_total: 0, tax_exemption: ACME })
  const summary = { tax_category: 'standard', rate_ppm: 250_000, net: 1_490, tax: 0, gross: 1_490 }
  expect(order.tax_summary).toEqual([{ ...summary, exempt: ACME.reason }])
  const taxed = await place(other, 1_863)
  expect(taxed).toMatchObject({
    tax_total: 373,
    tax_exemption: null,
    tax_summary: [{ tax: 373, exempt: null }]
  })

  await admin.delete(`/api/admin/taxes/exemptions/${id}`)
  expect((await as(exempt).get(`/api/orders/${order.id}`)).json).toEqual(order)
  // A customer who is no longer exempt does not get the earlier price.
  const refused = await as(exempt).post('/api/orders', { ...sent(mug), expected_total: 1_490 })
  expect([refused.status, refused.json.code]).toEqual([409, 'ORDER_PRICE_CHANGED'])
})
