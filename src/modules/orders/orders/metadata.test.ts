import { describe, expect, test } from 'vitest'
import { itemOf, STOCKHOLM } from '../../../../test/support/checkouts.ts'
import { sent, TRANSFER, useOrders } from '../../../../test/support/orders.ts'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import { customer } from '../../../testing.ts'

shareShops()

const many = (count: number, prefix = 'key') =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix} ${index}`, 'x']))
const email = 'ada@example.com'

describe('the metadata of an order', () => {
  test('an order has the metadata of its request', async () => {
    const shop = await useOrders()
    const buyer = shop.as(customer())
    const metadata = { gift_note: 'For Ada', empty: '', none: null }
    const { json } = await buyer.post('/api/orders', { ...sent(shop.mug), email, metadata })
    expect(json.metadata).toEqual({ gift_note: 'For Ada' })
    const read = (await buyer.get(`/api/orders/${json.id}`)).json
    expect(read.metadata).toEqual({ gift_note: 'For Ada' })
    expect(read).not.toHaveProperty('private_metadata')
  })

  test("an order of a cart has the cart's metadata, overridden by that of the checkout", async () => {
    const shop = await useOrders()
    const { buyer } = await shop.withCart(itemOf(shop.mug))
    await buyer.patch('/api/cart', { metadata: { source: 'app', gift_note: 'For Ada' } })
    const body = { cart: true, email, shipping_address: STOCKHOLM }
    const metadata = { gift_note: 'For Bob', wrap: 'yes' }
    const { json: checkout } = await buyer.post('/api/checkouts', { ...body, metadata })
    expect(checkout.metadata).toEqual(metadata)
    const change = { wrap: null, card: 'red' }
    const updated = await buyer.put(`/api/checkouts/${checkout.id}`, { ...body, metadata: change })
    expect(updated.json.metadata).toEqual({ gift_note: 'For Bob', card: 'red' })
    const kept = await buyer.put(`/api/checkouts/${checkout.id}`, body)
    expect(kept.json.metadata).toEqual({ gift_note: 'For Bob', card: 'red' })
    const placed = await buyer.post(`/api/checkouts/${checkout.id}/complete`, { payment: TRANSFER })
    expect(placed.json.metadata).toEqual({ source: 'app', gift_note: 'For Bob', card: 'red' })
    expect((await buyer.get('/api/cart')).json).toMatchObject({ count: 0, metadata: {} })
  })

  test("a checkout whose cart's metadata has changed since is not ordered", async () => {
    const shop = await useOrders()
    const { buyer } = await shop.withCart(itemOf(shop.mug))
    const { json } = await buyer.post('/api/checkouts', { cart: true, email, shipping_address: STOCKHOLM })
    await buyer.patch('/api/cart', { metadata: { source: 'app' } })
    const placed = await buyer.post(`/api/checkouts/${json.id}/complete`, { payment: TRANSFER })
    expect([placed.status, placed.json.code]).toEqual([409, 'CART_CHANGED'])
  })

  test('the metadata of an order never exceeds the limits, because the checkout is rejected before', async () => {
    const shop = await useOrders()
    const { buyer } = await shop.withCart(itemOf(shop.mug))
    await buyer.patch('/api/cart', { metadata: many(30, 'cart') })
    const body = { cart: true, email, shipping_address: STOCKHOLM }
    const tooMany = await buyer.post('/api/checkouts', { ...body, metadata: many(21) })
    expect([tooMany.status, tooMany.json.code]).toEqual([400, 'METADATA_LIMIT'])
    const { json } = await buyer.post('/api/checkouts', { ...body, metadata: many(20) })
    const more = await buyer.put(`/api/checkouts/${json.id}`, { ...body, metadata: { another: 'x' } })
    expect([more.status, more.json.code]).toEqual([400, 'METADATA_LIMIT'])
    const placed = await buyer.post(`/api/checkouts/${json.id}/complete`, { payment: TRANSFER })
    expect(Object.keys(placed.json.metadata)).toHaveLength(50)
  })
})

describe('an administrator', () => {
  test('an administrator changes the metadata of an order, and alone sees the private part', async () => {
    const shop = await useOrders()
    const buyer = shop.as(customer())
    const { json } = await buyer.post('/api/orders', {
      ...sent(shop.mug),
      email,
      metadata: { a: '1', b: '2' }
    })
    const url = `/api/admin/orders/${json.id}`
    const body = { metadata: { b: null, c: '3' }, private_metadata: { picker: 'Eve' } }
    const changed = await shop.admin.patch(url, body, { 'if-match': '"1"' })
    expect(changed.json).toMatchObject({ metadata: { a: '1', c: '3' }, private_metadata: { picker: 'Eve' } })
    expect(changed.json.metadata).not.toHaveProperty('b')
    expect(changed.json.version).toBe(2)
    expect(Date.parse(changed.json.updated_at)).toBeGreaterThan(Date.parse(json.updated_at))
    const stale = await shop.admin.patch(url, body, { 'if-match': '"1"' })
    expect([stale.status, stale.json.code]).toEqual([412, 'ORDER_STALE'])
    expect((await shop.admin.patch(url, {})).json.version).toBe(2)
    const own = await buyer.get(`/api/orders/${json.id}`)
    expect(own.json.metadata).toEqual({ a: '1', c: '3' })
    expect(own.text).not.toContain('picker')
    const full = await shop.admin.patch(url, { private_metadata: many(50) })
    expect([full.status, full.json.code]).toEqual([400, 'METADATA_LIMIT'])
  })

  test('an administrator filters orders by metadata, also in the export', async () => {
    const shop = await useOrders()
    const ids: string[] = []
    for (const metadata of [{ channel: 'app', campaign: 'a&b=[1]' }, { channel: 'app' }, {}]) {
      const { json } = await shop.as(customer()).post('/api/orders', { ...sent(shop.mug), email, metadata })
      ids.unshift(json.id)
    }
    const listed = async (query: string) => {
      const { json } = await shop.admin.get(`/api/admin/orders?count=true&${query}`)
      return [json.total, ...(json.items ?? []).map((item: { id: string }) => ids.indexOf(item.id))]
    }
    expect(await listed('metadata[channel]=app')).toEqual([2, 1, 2])
    expect(await listed('metadata%5Bchannel%5D=app&metadata%5Bcampaign%5D=a%26b%3D%5B1%5D')).toEqual([1, 2])
    expect(await listed('metadata[channel]=web')).toEqual([0])
    expect(await listed('metadata[channel]=app&status=paid')).toEqual([0])
    const page = await shop.admin.get('/api/admin/orders?metadata[channel]=app&limit=1')
    const next = await shop.admin.get(
      `/api/admin/orders?metadata[channel]=app&limit=1&cursor=${page.json.next_cursor}`
    )
    expect(next.json.items.map((item: { id: string }) => item.id)).toEqual([ids[2]])
    for (const query of ['metadata=app', 'metadata[a]=1&metadata[a]=2', 'metadata[a][b]=1', 'metadata[]=1']) {
      const { status, json } = await shop.admin.get(`/api/admin/orders?${query}`)
      expect([status, json.code], query).toEqual([400, 'VALIDATION_FAILED'])
    }
    const { text } = await shop.admin.get('/api/admin/orders/export?metadata[channel]=app')
    expect(text.trim().split('\r\n')).toHaveLength(3)
    expect(text).toContain('"{""channel"":""app""}"')
  })
})
