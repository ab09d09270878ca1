import { expect, test } from 'vitest'
import { itemOf, STOCKHOLM } from '../../../../test/support/checkouts.ts'
import { TRANSFER, useOrders } from '../../../../test/support/orders.ts'
import { customer } from '../../../testing.ts'

const NAME = '<script>alert(1)</script> & "Ada"'

test('units to ship and parcels are listed, printed on packing slips and exported', async () => {
  const shop = await useOrders()
  const buyer = shop.as(customer())
  const order = async () => {
    const { status, json, text } = await buyer.post('/api/orders', {
      items: [itemOf(shop.mug, 3)],
      shipping_address: { ...STOCKHOLM, name: NAME },
      payment: TRANSFER
    })
    expect(status, text).toBe(201)
    await shop.pay(json.id)
    return json
  }
  const [one, other] = [await order(), await order()]
  const send = await shop.admin.post(`/api/admin/orders/${one.id}/shipments`, {
    lines: [{ line: 1, quantity: 1 }],
    carrier: 'dhl',
    tracking_number: '3318810025'
  })
  const [{ id: parcel }] = send.json.shipments
  const path = '/api/admin/shipping'
  const list = async (query: string) => (await shop.admin.get(`${path}/shipments?${query}`)).json
  expect((await list('count=true')).total).toBe(3)
  expect((await list('status=in_transit&carrier=DHL')).items).toMatchObject([
    { id: parcel, order_id: one.id }
  ])
  expect((await list('carrier=ups')).items).toEqual([])
  expect((await list(`order_id=${other.id}`)).items).toMatchObject([
    { status: 'pending', order_id: other.id }
  ])
  expect((await list('since=2999-01-01T00:00:00Z')).items).toEqual([])
  const seen: string[] = []
  for (let cursor = ''; cursor !== 'null'; ) {
    const { items, next_cursor } = await list(`limit=1${cursor && `&cursor=${cursor}`}`)
    seen.push(...items.map(({ id }: { id: string }) => id))
    cursor = String(next_cursor)
  }
  expect([seen.length, new Set(seen).size, seen[0]]).toEqual([3, 3, parcel])

  const slip = await shop.admin.get(`${path}/shipments/${parcel}/packing-slip.json`)
  expect(slip.json).toMatchObject({
    shipment_id: parcel,
    order_number: one.number,
    carrier: 'DHL',
    tracking_number: '3318810025',
    address: { name: NAME, country: 'SE' },
    lines: [{ line: 1, quantity: 1, sku: expect.any(String) }]
  })
  const page = await shop.admin.get(`${path}/shipments/${parcel}/packing-slip`)
  expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
  expect(page.headers['content-security-policy']).toContain("default-src 'none'")
  expect(page.text).toContain(one.number)
  expect(page.text).toContain('&#60;script&#62;alert(1)&#60;/script&#62; &#38; &#34;Ada&#34;')
  expect(page.text).not.toContain('<script')

  const numbersOn = async (query: string) => {
    const { text } = await shop.admin.get(`${path}/packing-slips${query}`)
    return [one, other].map(({ number }) => text.split(number).length - 1)
  }
  expect(await numbersOn('')).toEqual([1, 1])
  await shop.sql(`update shipping.shipments set sent_at = '2026-11-05T23:59:59Z' where sent_at is not null`)
  expect(await numbersOn('?day=2026-11-05')).toEqual([1, 0])
  expect(await numbersOn('?day=2026-11-06')).toEqual([0, 0])
  const csv = (await shop.admin.get(`${path}/shipments/export`)).text.trim().split('\r\n')
  expect(csv[0]).toMatch(/^order_number,name,/)
  expect(
    csv
      .slice(1)
      .map(line => line.slice(0, one.number.length))
      .sort()
  ).toEqual([one.number, other.number].sort())
  expect(csv.join()).toContain(',2 x ')

  expect((await shop.admin.get(`${path}/shipments/${one.id}/packing-slip`)).status).toBe(404)
})
