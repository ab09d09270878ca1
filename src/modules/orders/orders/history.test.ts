import { expect, test } from 'vitest'
import { sent, useOrders } from '../../../../test/support/orders.ts'
import { customer } from '../../../testing.ts'

test('the history of an order is deleted ten full years after its year, and the order stays', async () => {
  const shop = await useOrders()
  const ada = shop.as(customer())
  const { status, json, text } = await ada.post('/api/orders', sent(shop.mug))
  expect(status, text).toBe(201)
  const read = async () => (await ada.get(`/api/orders/${json.id}`)).json
  const placed = (await read()).history
  expect(placed).toHaveLength(1)
  const year = new Date(placed[0].at).getUTCFullYear()
  await shop.platform.partitions.maintain(new Date(Date.UTC(year + 10, 11, 31, 23, 59)))
  expect((await read()).history).toEqual(placed)
  await shop.platform.partitions.maintain(new Date(Date.UTC(year + 11, 0)))
  expect(await read()).toMatchObject({ id: json.id, number: json.number, total: json.total, history: [] })
})
