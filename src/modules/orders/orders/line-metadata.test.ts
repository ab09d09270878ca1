import { expect, test } from 'vitest'
import { itemOf, STOCKHOLM } from '../../../../test/support/checkouts.ts'
import { doOnceMore } from '../../../../test/support/jobs.ts'
import { sent, TRANSFER, useOrders } from '../../../../test/support/orders.ts'
import { usePaidOrders } from '../../../../test/support/paid-orders.ts'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import { statement } from '../../../platform/postgres/statement.ts'
import { customer } from '../../../testing.ts'

shareShops()

const engraved = (variantId: string, engraving: string, quantity = 1) => ({
  ...itemOf(variantId, quantity),
  metadata: { engraving }
})
type Item = { id: unknown; line_id: string; quantity: number; metadata: Record<string, string> }
const linesOf = (items: readonly Item[]) =>
  items.map(({ quantity, metadata }) => [quantity, metadata.engraving ?? null])

test('items of a checkout merge when their metadata is equal, and an equal item keeps its id', async () => {
  const shop = await usePaidOrders()
  const items = [engraved(shop.mug, 'Ada'), engraved(shop.mug, 'Bob'), engraved(shop.mug, 'Ada', 2)]
  const body = { items, shipping_address: STOCKHOLM }
  const { json: checkout } = await shop.buyer.post('/api/checkouts', body)
  expect(linesOf(checkout.items)).toEqual([
    [3, 'Ada'],
    [1, 'Bob']
  ])
  const [ada, bob] = checkout.items
  const ofItems = checkout.components.filter(({ kind }: { kind: string }) => kind === 'item')
  expect(ofItems).toHaveLength(2)
  expect(ofItems).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ item: ada.id, variant_id: shop.mug, amount: 3_000 }),
      expect.objectContaining({ item: bob.id, variant_id: shop.mug, amount: 1_000 })
    ])
  )
  const change = {
    ...body,
    items: [itemOf(shop.mug), { ...engraved(shop.mug, 'Bob', 5), metadata: { engraving: 'Bob', font: '' } }]
  }
  const { json: updated } = await shop.buyer.put(`/api/checkouts/${checkout.id}`, change)
  expect(linesOf(updated.items)).toEqual([
    [1, null],
    [5, 'Bob']
  ])
  expect(updated.items[1].id).toBe(bob.id)
  expect([ada.id, bob.id]).not.toContain(updated.items[0].id)
})

test('metadata of items beyond the limits is rejected with 400', async () => {
  const shop = await usePaidOrders()
  const large = { text: 'x'.repeat(500) }
  const items = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      ...itemOf(shop.mug),
      metadata: { ...large, index: String(index) }
    }))
  const body = { shipping_address: STOCKHOLM }
  const write = async (path: string, more: object) => {
    const { status, json } = await shop.buyer.post(path, { ...body, ...more })
    return [status, json.code]
  }
  expect(await write('/api/checkouts', { items: items(31) })).toEqual([201, undefined])
  for (const path of ['/api/checkouts', '/api/orders'])
    expect(await write(path, { items: items(32) }), path).toEqual([400, 'METADATA_LIMIT'])
  expect(await write('/api/checkouts', { items: items(31), metadata: large })).toEqual([
    400,
    'METADATA_LIMIT'
  ])
  const keys = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`key ${index}`, 'x']))
  const tooMany = [{ ...itemOf(shop.mug), metadata: keys }]
  expect(await write('/api/checkouts', { items: tooMany })).toEqual([400, 'VALIDATION_FAILED'])
  expect(await shop.orders()).toEqual([])
})

test('a line of an order cannot store more than 16 kB of metadata', async () => {
  const shop = await useOrders()
  const buyer = shop.as(customer())
  const body = { ...sent(shop.mug), items: [engraved(shop.mug, 'Ada')], payment: TRANSFER }
  const { json: order } = await buyer.post('/api/orders', body)
  const changeMetadata = statement({
    name: 'test.change_line_metadata',
    takes: { id: 'uuid', length: 'int4' },
    text: `update orders.lines set metadata = jsonb_build_object('a', repeat('x', $length)) where order_id = $id`
  })
  // The other bytes are those of `{"a": ""}`.
  expect(await shop.db.run(changeMetadata, { id: order.id, length: 16_384 - 9 })).toBe(1)
  await expect(shop.db.run(changeMetadata, { id: order.id, length: 16_384 - 8 })).rejects.toMatchObject({
    code: 'METADATA_LIMIT'
  })
})

test('stock of lines of one variant is checked, reserved and shipped as their sum', async () => {
  const shop = await useOrders()
  await shop.stock(shop.mug, 5)
  const buyer = shop.as(customer())
  const body = (bobs: number) => ({
    items: [engraved(shop.mug, 'Ada', 2), engraved(shop.mug, 'Bob', bobs)],
    shipping_address: STOCKHOLM,
    payment: TRANSFER
  })
  const short = await buyer.post('/api/orders', body(4))
  expect([short.status, short.json.code]).toEqual([409, 'INVENTORY_SHORT'])
  expect(short.json.items).toMatchObject([{ variant_id: shop.mug, available: 5 }])
  expect(short.json.items).toHaveLength(1)
  const { json: order } = await buyer.post('/api/orders', body(3))
  expect(await shop.reserved(shop.mug)).toMatchObject([{ order_id: order.id, quantity: 5 }])
  await shop.pay(order.id)
  const shipped = await shop.admin.post(`/api/admin/orders/${order.id}/shipments`, {})
  expect(shipped.status, shipped.text).toBe(200)
  expect(shipped.json.shipments).toMatchObject([
    {
      lines: [
        { line: 1, quantity: 2 },
        { line: 2, quantity: 3 }
      ]
    }
  ])
  const onHand = () => shop.sql('select on_hand from inventory.levels where item_id = $1', [shop.mug])
  await expect.poll(onHand).toEqual([{ on_hand: 0 }])
})

test('an expired order restores its lines to the cart with their metadata', async () => {
  const shop = await usePaidOrders()
  for (const item of [engraved(shop.mug, 'Ada', 2), engraved(shop.mug, 'Bob')])
    expect((await shop.buyer.post('/api/cart', item)).status).toBe(200)
  const { items: _, ...rest } = sent(shop.mug)
  const { json } = await shop.buyer.post('/api/orders', { ...rest, payment: {} })
  expect(linesOf(json.items)).toEqual([
    [2, 'Ada'],
    [1, 'Bob']
  ])
  await shop.sql(
    `update orders.orders set created_at = created_at - interval '31 minutes', expires_at = expires_at - interval '31 minutes'`
  )
  await doOnceMore(shop, 'orders.expire_orders')
  await shop.settled()
  await shop.becomes(json.id, { status: 'canceled' })
  expect(linesOf((await shop.buyer.get('/api/cart')).json.items)).toEqual([
    [2, 'Ada'],
    [1, 'Bob']
  ])
})
