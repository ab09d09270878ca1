import { expect, test } from 'vitest'
import { sent, useOrders } from '../../../../test/support/orders.ts'
import { newId } from '../../../kernel/ids.ts'
import { customer } from '../../../testing.ts'

test('the order of somebody else is canceled by nobody, and is answered as one that there is not', async () => {
  const shop = await useOrders()
  const asCustomer = async () => {
    const buyer = shop.as(customer())
    const { json } = await buyer.post('/api/orders', sent(shop.mug))
    return {
      id: json.id as string,
      cancel: (id: string) => buyer.post(`/api/orders/${id}/cancel`)
    }
  }
  const asGuest = async () => {
    const body = { ...sent(shop.mug), email: `${newId()}@example.com` }
    const { json } = await shop.anybody.post('/api/orders/guest', body)
    const token = { 'x-order-token': json.order_token as string }
    return {
      id: json.id as string,
      cancel: (id: string) => shop.anybody.post(`/api/orders/guest/${id}/cancel`, undefined, token)
    }
  }
  const owners = [await asCustomer(), await asCustomer(), await asGuest(), await asGuest()]
  const before = await shop.orders()
  const bodies = new Set<string>()
  for (const me of owners)
    for (const id of [...owners.map(each => each.id), newId()].filter(each => each !== me.id)) {
      const { status, json } = await me.cancel(id)
      const { request_id: _, ...body } = json
      expect(status).toBe(404)
      bodies.add(JSON.stringify(body))
    }
  expect(bodies.size).toBe(1)
  expect(await shop.orders()).toEqual(before)
  for (const me of owners) expect((await me.cancel(me.id)).status).toBe(200)
})
