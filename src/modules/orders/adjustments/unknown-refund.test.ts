import { expect, test } from 'vitest'
import { sent, TRANSFER, useOrders } from '../../../../test/support/orders.ts'
import { type PaymentsApi, paymentsModule } from '../../payments/index.ts'

test('a refund that a callback reports before its response does not block later payment events', async () => {
  const shop = await useOrders()
  const body = { ...sent(shop.mug), email: 'ada@example.com', payment: TRANSFER }
  const { id } = (await shop.anonymous.post('/api/orders/guest', body)).json
  await shop.pay(id)
  expect((await shop.admin.post(`/api/admin/orders/${id}/cancel`, {})).status).toBe(200)
  // A callback reported the refund and its response was lost, so it counts twice for now.
  await shop.sql(
    `update payments.operations set state = 'unknown', settled_at = null, object_id = null, next_check_at = 'infinity'
     where order_id = $1 and kind = 'refund'`,
    [id]
  )
  const payments = shop.apiOf(paymentsModule) as PaymentsApi
  await shop.db.transaction(tx => payments.freeze(tx, id))
  const [adjustment, ...others] = await shop.sql(
    'select back::int from orders.adjustments where order_id = $1',
    [id]
  )
  expect(adjustment?.back).toBeGreaterThan(0)
  expect(others).toEqual([])
})
