import { expect, test } from 'vitest'
import { TRANSFER, useOrders } from '../../../../test/support/orders.ts'
import { customer } from '../../../testing.ts'
import { orderPaymentsOfApi, type PaymentsApi, paymentsModule } from '../../payments/index.ts'

/** A shop with an order of 20.00 whose amount due was lowered outside of the order, and then paid. */
async function useLoweredOrder(loweredMinor: number) {
  const shop = await useOrders()
  const mug = await shop.sell({ price: 2_000, requires_shipping: false })
  await shop.stock(mug, 1)
  const buyer = shop.as(customer())
  const { id, total } = (await buyer.post('/api/orders', { items: [{ variant_id: mug, quantity: 1 }] })).json
  expect(total).toBe(2_000)
  const payments = orderPaymentsOfApi(shop.apiOf(paymentsModule) as PaymentsApi)
  await shop.db.transaction(async tx =>
    (await payments.lockAccount(tx, id))?.updateAmountDue(total - loweredMinor)
  )
  const intent = await buyer.post('/api/payments/intent', { order_id: id, ...TRANSFER })
  expect(intent.json, intent.text).toMatchObject({ amount: total - loweredMinor })
  await shop.pay(id)
  const refund = (amount: number) =>
    shop.admin.post(`/api/admin/orders/${id}/refunds`, { amount, reason: 'a scratch' })
  const account = async () =>
    (
      await shop.sql(
        'select due::int, captured::int, refunded::int, refunding::int from payments.accounts where order_id = $1',
        [id]
      )
    )[0]
  return { refund, account }
}

test('a credit above the amount due of an order lowers that to 0', async () => {
  const { refund, account } = await useLoweredOrder(1_990)
  const { status, text } = await refund(500)
  expect(status, text).toBe(200)
  expect(await account()).toEqual({ due: 0, captured: 10, refunded: 0, refunding: 0 })
})

test('a refund of more than was captured refunds the captured amount', async () => {
  const { refund, account } = await useLoweredOrder(700)
  const { status, text } = await refund(2_000)
  expect(status, text).toBe(200)
  expect(await account()).toMatchObject({ captured: 1_300, refunded: 1_300, refunding: 0 })
})
