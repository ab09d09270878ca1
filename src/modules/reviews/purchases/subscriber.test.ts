import { expect, test } from 'vitest'
import { CHECKOUT_MODULES } from '../../../../test/support/checkouts.ts'
import { sent, TRANSFER, useOrders } from '../../../../test/support/orders.ts'
import { useReviews } from '../../../../test/support/reviews.ts'
import { customer } from '../../../testing.ts'
import { fakeOrders } from '../../orders/fake.ts'
import type { OrdersApi } from '../../orders/index.ts'
import { reviewsModule } from '../index.ts'
import { updateVerifiedPurchases } from './subscriber.ts'

test('reviews become verified purchases with an order, and stop being so when it is canceled', async () => {
  const shop = await useReviews()
  const orders = shop.orders
  if (orders === null) throw new Error('there are no orders')
  const [mug, jug] = [await shop.product(), await shop.product()]
  const [ada, bob] = [customer(), customer()]
  for (const caller of [ada, bob]) await shop.review(mug, 5, caller)
  await shop.review(jug, 1, ada)
  const verified = async () => (await shop.list(mug, '&verified=true')).total
  const follow = (...ids: string[]) => shop.db.transaction(tx => updateVerifiedPurchases(tx, ids, orders))
  const order = orders.order(ada.id, [{ variantId: mug, productId: mug }])
  await follow(ada.id, bob.id)
  expect(await verified()).toBe(0)
  orders.place(order)
  await follow(bob.id, ada.id, ada.id, customer().id)
  await follow(ada.id)
  expect([await verified(), (await shop.list(jug, '&verified=true')).total]).toEqual([1, 0])
  const mine = await shop.as(ada).get(`/api/products/${mug}/reviews/mine`)
  expect(mine.json).toMatchObject({ verified_purchase: true, version: 1 })
  orders.cancel(order)
  await follow(ada.id)
  await follow()
  expect(await verified()).toBe(0)
})

test('a review that is written while the order is being placed becomes a verified purchase', async () => {
  const orders = fakeOrders()
  let meanwhile: (customerId: string) => Promise<unknown> = async () => {}
  const asked: OrdersApi['findPurchased'] = async (db, customerId, ids) => {
    const bought = await orders.findPurchased(db, customerId, ids)
    await meanwhile(customerId)
    return bought
  }
  const shop = await useReviews({ orders: { ...orders, findPurchased: asked } })
  const mug = await shop.product()
  const ada = customer()
  const waiting = `
    select from pg_stat_activity where wait_event = 'advisory' and datname = current_database()`
  let isFollowed = false
  let following: Promise<void> | undefined
  // The transaction of the review has read that the customer bought nothing. It commits after the order's
  // event is handled, or before.
  meanwhile = async id => {
    meanwhile = async () => {}
    orders.place(orders.order(id, [{ variantId: mug, productId: mug }]))
    following = shop.db
      .transaction(tx => updateVerifiedPurchases(tx, [id], orders))
      .then(() => {
        isFollowed = true
      })
    await expect.poll(async () => isFollowed || (await shop.sql(waiting)).length > 0).toBe(true)
  }
  await shop.review(mug, 5, ada)
  await following
  expect((await shop.list(mug, '&verified=true')).total).toBe(1)
})

test('the orders module returns which products a customer bought', async () => {
  const shop = await useOrders({ modules: [...CHECKOUT_MODULES, reviewsModule] })
  const caller = customer()
  const own = shop.as(caller)
  const [{ product_id: product }] = (await own.post('/api/cart', { variant_id: shop.mug, quantity: 1 })).json
    .items
  const path = `/api/products/${product}/reviews`
  expect((await own.post(path, { rating: 5 })).json.verified_purchase).toBe(false)
  const { json: order } = await own.post('/api/orders', { ...sent(shop.mug), payment: TRANSFER })
  const isVerified = async () => (await own.get(`${path}/mine`)).json.verified_purchase
  await shop.pay(order.id)
  await expect.poll(isVerified).toBe(true)
  await own.post(`/api/orders/${order.id}/cancel`)
  await expect.poll(isVerified).toBe(false)
})
