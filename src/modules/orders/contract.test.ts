import { describe, expect, test } from 'vitest'
import { itemOf, STOCKHOLM } from '../../../test/support/checkouts.ts'
import { TRANSFER, useOrders } from '../../../test/support/orders.ts'
import { transactionsInMemory } from '../../../test/support/transactions-in-memory.ts'
import { newId } from '../../kernel/ids.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { customer } from '../../testing.ts'
import { fakeOrders } from './fake.ts'
import { type OrdersApi, ordersModule } from './index.ts'

type Thing = { readonly variantId: string; readonly productId: string }
type Buyer = { readonly id: string; readonly token: string }
type Subject = {
  orders: OrdersApi
  db: Database
  sell(): Promise<Thing>
  order(buyer: Buyer, things: readonly Thing[]): Promise<string>
  pay(orderId: string): Promise<unknown>
  complete(orderId: string): Promise<unknown>
  cancel(buyer: Buyer, orderId: string): Promise<unknown>
}

async function useReal(): Promise<Subject> {
  const shop = await useOrders()
  return {
    orders: shop.apiOf(ordersModule) as OrdersApi,
    db: shop.db,
    sell: async () => {
      const variantId = await shop.sell()
      const [row] = await shop.sql('select product_id from catalog.variants where id = $1', [variantId])
      return { variantId, productId: String(row?.product_id) }
    },
    order: async (buyer, things) => {
      const items = things.map(({ variantId }) => itemOf(variantId))
      const body = { items, shipping_address: STOCKHOLM, payment: TRANSFER }
      const { status, json, text } = await shop.as(buyer).post('/api/orders', body)
      expect(status, text).toBe(201)
      return json.id
    },
    pay: shop.pay,
    complete: async id => {
      await shop.admin.post(`/api/admin/orders/${id}/shipments`, {})
      return shop.admin.post(`/api/admin/orders/${id}/transition`, { action: 'complete' })
    },
    cancel: (buyer, id) => shop.as(buyer).post(`/api/orders/${id}/cancel`)
  }
}

async function useFake(): Promise<Subject> {
  const orders = fakeOrders()
  return {
    orders,
    db: transactionsInMemory,
    sell: async () => ({ variantId: newId(), productId: newId() }),
    order: async ({ id }, things) => orders.order(id, things),
    pay: async id => orders.place(id),
    complete: async id => orders.complete(id),
    cancel: async (_buyer, id) => orders.cancel(id)
  }
}

/** The contract of `OrdersApi`, for the module and its fake. */
describe.each([
  ['orders', useReal],
  ['their fake', useFake]
])('%s', (_what, use) => {
  test('the orders module finds what a customer has bought in placed orders that are not canceled', async () => {
    const { orders, db, sell, order, pay, cancel } = await use()
    const [ada, bob] = [customer(), customer()]
    const [mug, tee, cap] = [await sell(), await sell(), await sell()]
    const all = [mug, tee, cap].flatMap(({ variantId, productId }) => [variantId, productId])
    const bought = async (buyer: Buyer, ids = all) =>
      [...(await orders.findPurchased(db, buyer.id, ids))].toSorted()
    const [paid, unpaid, canceled] = [
      await order(ada, [mug, tee]),
      await order(ada, [cap]),
      await order(ada, [cap])
    ]
    expect(await bought(ada)).toEqual([])
    await pay(paid)
    await pay(canceled)
    expect(await bought(ada)).toEqual(all.toSorted())
    await cancel(ada, canceled)
    const had = [mug.variantId, mug.productId, tee.variantId, tee.productId].toSorted()
    expect(await bought(ada)).toEqual(had)
    expect(await bought(ada, [mug.productId, cap.productId, newId()])).toEqual([mug.productId])
    expect(await bought(bob)).toEqual([])
    await order(ada, [mug])
    await pay(unpaid)
    await cancel(ada, paid)
    expect(await bought(ada)).toEqual([cap.variantId, cap.productId].toSorted())
    expect(await bought(ada, [])).toEqual([])
  })

  test('the orders module erases personal data once no order is open', async () => {
    const { orders, db, sell, order, pay, complete, cancel } = await use()
    const [ada, bob] = [customer(), customer()]
    const mug = await sell()
    const erase = (buyer: Buyer) => db.transaction(tx => orders.erase(tx, buyer.id))
    const has = async (buyer: Buyer) => (await orders.findPurchased(db, buyer.id, [mug.variantId])).size === 1
    const [done, paid, unpaid] = [await order(ada, [mug]), await order(ada, [mug]), await order(ada, [mug])]
    const ofBob = await order(bob, [mug])
    await pay(ofBob)
    await pay(done)
    await pay(paid)
    await complete(done)
    const open = (length: number) => ({ code: 'ORDER_STILL_OPEN', details: { numbers: { length } } })
    await expect(erase(ada)).rejects.toMatchObject(open(2))
    await cancel(ada, unpaid)
    await expect(erase(ada)).rejects.toMatchObject(open(1))
    await complete(paid)
    const failing = db.transaction(async tx => {
      await orders.erase(tx, ada.id)
      throw new Error('she stays')
    })
    await expect(failing).rejects.toThrow('she stays')
    expect(await has(ada)).toBe(true)
    await erase(ada)
    expect([await has(ada), await has(bob)]).toEqual([false, true])
    await erase(ada)
    await erase(customer())
  })
})
