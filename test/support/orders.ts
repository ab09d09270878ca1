import { expect } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { customer } from '../../src/testing.ts'
import { itemOf, STOCKHOLM, useCheckouts } from './checkouts.ts'

/** A shop with all modules of an order, shipping methods, and a mug for 10.00. */
export async function useOrders<Apis extends Record<string, object> = Record<string, never>>(
  options: Parameters<typeof useCheckouts<Apis>>[0] = {}
) {
  const shop = await useCheckouts(options)
  // Ids are in the order of time.
  const since = newId()
  const post = options.off?.includes('shipping') ? undefined : await shop.usePost()
  const mug = await shop.sell()
  const admin = shop.admin
  return {
    ...shop,
    mug,
    post,
    /** Sets the stock of a variant. */
    stock: async (variantId: string, on_hand: number) => {
      const { status, text } = await admin.put(`/api/inventory/levels/${variantId}`, { on_hand })
      expect(status, text).toBe(200)
    },
    /** Open reservations of a variant, by state. */
    reserved: (variantId: string) =>
      shop.sql(
        `select owner as order_id, state, quantity from inventory.reservations
         where item_id = $1 and state <> 'closed' order by owner`,
        [variantId]
      ),
    /** A new customer with these items in their cart. */
    withCart: async (...items: { variant_id: string; quantity: number }[]) => {
      const caller = customer()
      const buyer = shop.as(caller)
      for (const item of items) expect((await buyer.post('/api/cart', item)).status).toBe(200)
      return { ...caller, buyer }
    },
    /** The orders that this test has created. */
    orders: () => shop.sql('select * from orders.orders where id > $1 order by id', [since]),
    /** Everything that an order could have stored. */
    traces: () =>
      shop.sql(
        `select (select count(*)::int from orders.orders) as orders,
           (select count(*)::int from orders.lines) as lines,
           (select count(*)::int from payments.accounts) as accounts,
           (select count(*)::int from pricing.redemptions) as redemptions,
           (select count(*)::int from inventory.reservations where state <> 'closed') as reservations`
      ),
    /** Captures the payment. */
    pay: async (orderId: string) => {
      const [payment] = await shop.sql('select id from payments.payments where order_id = $1', [orderId])
      const { status, text } = await admin.post(`/api/admin/payments/${payment?.id}/capture`, {})
      expect(status, text).toBe(200)
    }
  }
}

export const TRANSFER = { provider: 'manual', method: 'bank_transfer' }

/** The body of an order of `quantity` units, sent to an address. */
export const sent = (variantId: string, quantity = 1) => ({
  items: [itemOf(variantId, quantity)],
  shipping_address: STOCKHOLM
})
