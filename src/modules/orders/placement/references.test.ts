import { expect, test } from 'vitest'
import { sent, TRANSFER, useOrders } from '../../../../test/support/orders.ts'
import { customer } from '../../../testing.ts'

test('the reference of a bank transfer is the order number', async () => {
  const { as, mug } = await useOrders()
  const buyer = as(customer())
  const { json: order } = await buyer.post('/api/orders', { ...sent(mug), payment: TRANSFER })
  const { json: payment } = await buyer.post('/api/payments/intent', { order_id: order.id, ...TRANSFER })
  expect(payment.action).toMatchObject({ type: 'bank_transfer', reference: order.number })
})
