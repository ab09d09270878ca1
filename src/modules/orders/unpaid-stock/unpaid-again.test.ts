import { expect, test } from 'vitest'
import { useEvictions } from '../../../../test/support/evictions.ts'
import { sent, TRANSFER } from '../../../../test/support/orders.ts'
import { CARD } from '../../../../test/support/paid-orders.ts'
import { shareShops } from '../../../../test/support/shared-shops.ts'

shareShops()

/** A shop that captures card payments later, and a verified buyer. */
async function useDeferred() {
  const shop = await useEvictions({ capture: 'manual' })
  const buyer = shop.verified()
  return {
    ...shop,
    order: async (payment: object) =>
      shop.made(await buyer.post('/api/orders', { ...sent(shop.mug, 3), payment })),
    /** The buyer of an order by bank transfer pays by card instead, which authorizes the payment. */
    authorizeByCard: async (orderId: string) => {
      // The transfer is canceled first; a request that comes meanwhile is refused.
      await expect
        .poll(async () => (await buyer.post('/api/payments/intent', { order_id: orderId, ...CARD })).status)
        .toBe(201)
      await shop.payCard(orderId)
      await shop.becomes(orderId, { payment_status: 'authorized' })
    },
    administer: async (orderId: string, action: string, body: object = {}) => {
      const [payment] = await shop.sql(
        'select id from payments.payments where order_id = $1 and authorized > 0',
        [orderId]
      )
      const { status, text } = await shop.admin.post(`/api/admin/payments/${payment?.id}/${action}`, body)
      expect(status, text).toBe(200)
    },
    unpaid: () =>
      shop.sql(
        'select order_id, units, network, is_verified from orders.unpaid_units where variant_id = $1',
        [shop.mug]
      )
  }
}

test('an order whose authorized payment is voided counts as unpaid again', async () => {
  const shop = await useDeferred()
  const order_id = await shop.order(TRANSFER)
  expect(await shop.unpaid()).toMatchObject([{ order_id, units: 3 }])
  await shop.authorizeByCard(order_id)
  expect(await shop.unpaid()).toEqual([])
  await shop.administer(order_id, 'void')
  await shop.becomes(order_id, { payment_status: 'unpaid' })
  expect(await shop.unpaid()).toEqual([{ order_id, units: 3, network: null, is_verified: true }])
})

test('an order whose capture is below the authorized amount counts as unpaid again', async () => {
  const shop = await useDeferred()
  const order_id = await shop.order(TRANSFER)
  await shop.authorizeByCard(order_id)
  expect(await shop.unpaid()).toEqual([])
  await shop.administer(order_id, 'capture', { amount: 100 })
  await shop.becomes(order_id, { payment_status: 'partially_paid' })
  expect(await shop.unpaid()).toMatchObject([{ order_id, units: 3 }])
})

test('an unpaid order that was shipped counts as unpaid stock again when its shipment is voided', async () => {
  const shop = await useDeferred()
  const order_id = await shop.order({ provider: 'manual', method: 'on_account' })
  const { shipments } = await shop.does(order_id, 'shipments')
  expect(await shop.unpaid()).toEqual([])
  await shop.does(order_id, `shipments/${shipments[0].id}/void`, { reason: 'wrong parcel' })
  expect(await shop.unpaid()).toMatchObject([{ order_id, units: 3 }])
})

test('units of a variant without a limit of unpaid stock do not count when the shipment is voided', async () => {
  const shop = await useDeferred()
  const order_id = await shop.order({ provider: 'manual', method: 'on_account' })
  await shop.sql('update inventory.items set tracked = false where id = $1', [shop.mug])
  const { shipments } = await shop.does(order_id, 'shipments')
  await shop.does(order_id, `shipments/${shipments[0].id}/void`, { reason: 'wrong parcel' })
  expect(await shop.unpaid()).toEqual([])
})
