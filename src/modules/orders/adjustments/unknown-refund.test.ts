import { expect, test } from 'vitest'
import { usePaidOrders } from '../../../../test/support/paid-orders.ts'

test('a refund that a callback reports before its response does not block later payment events', async () => {
  const shop = await usePaidOrders()
  const { id } = await shop.order()
  await shop.pay(id)
  await shop.does(id, 'cancel')
  await shop.becomes(id, { payment_status: 'refunded' })
  // A callback reported the refund and its response was lost, so it counts twice for now.
  await shop.sql(
    `update payments.operations set state = 'unknown', settled_at = null, object_id = null, next_check_at = 'infinity'
     where order_id = $1 and kind = 'refund'`,
    [id]
  )
  await shop.sql('update payments.facts set operation_id = null')
  await shop.callBack(id)
  const states = () => shop.sql('select distinct state from payments.events')
  await expect.poll(states).toEqual([{ state: 'applied' }])
  const [account] = await shop.sql(
    'select captured::int, refunded::int, refunding::int from payments.accounts'
  )
  expect(account).toEqual({ captured: 2_490, refunded: 2_490, refunding: 2_490 })
  const [adjustment, ...others] = await shop.sql(
    'select back::int from orders.adjustments where order_id = $1',
    [id]
  )
  expect(adjustment?.back).toBe(2_490)
  expect(others).toEqual([])
})
