import { expect, test } from 'vitest'
import { useReviews } from '../../../../test/support/reviews.ts'
import { needsOwnShop, shareShops } from '../../../../test/support/shared-shops.ts'
import { customer } from '../../../testing.ts'

shareShops()

const BEFORE = { settings: { CARTWRIGHT__REVIEWS__MODERATION: 'before' } }

test('with moderation of reviews, only the author sees a pending review', async () => {
  const shop = await useReviews(BEFORE)
  const mug = await shop.product()
  const ada = customer()
  const { id, status } = await shop.review(mug, 4, ada)
  expect(status).toBe('pending')
  expect([(await shop.list(mug)).total, (await shop.rating(mug)).count]).toEqual([0, 0])
  const own = shop.as(ada)
  const mine = async () => (await own.get(`/api/products/${mug}/reviews/mine`)).json
  expect(await mine()).toMatchObject({ id, status: 'pending', reason: null, version: 1 })

  expect(await shop.publish(id)).toMatchObject({ status: 'published', customer_id: ada.id, version: 2 })
  expect((await shop.list(mug)).items).toMatchObject([{ id, rating: 4 }])
  const again = await shop.admin.post(`/api/catalog/reviews/${id}/publish`)
  expect(again.json).toMatchObject({ status: 409, code: 'REVIEW_STATUS_FORBIDS', review_status: 'published' })
  await own.put(`/api/products/${mug}/reviews`, { rating: 1, title: 'Broke' })
  expect(await mine()).toMatchObject({ status: 'pending', rating: 1, version: 3 })
  expect((await shop.rating(mug)).count).toBe(0)
  await shop.reject(id, 'no reason')
  expect(await mine()).toMatchObject({ status: 'rejected', reason: 'no reason' })
  await own.put(`/api/products/${mug}/reviews`, { rating: 2 })
  expect(await mine()).toMatchObject({ status: 'pending', reason: null })
})

test('a rejected review is not published by rewriting it, nor by deleting and writing it again', async () => {
  const shop = await useReviews()
  const mug = await shop.product()
  const ada = customer()
  const own = shop.as(ada)
  const path = `/api/products/${mug}/reviews`
  const { id } = await shop.review(mug, 1, ada)
  await shop.reject(id)
  expect((await own.put(path, { rating: 2 })).json.status).toBe('pending')
  await own.delete(path)
  const { id: second, status } = await shop.review(mug, 3, ada)
  expect(status).toBe('pending')
  await shop.publish(second)
  expect((await own.put(path, { rating: 4 })).json.status).toBe('published')
  expect((await shop.admin.delete(`/api/catalog/reviews/${second}`)).status).toBe(204)
  expect((await shop.review(mug, 5, ada)).status).toBe('pending')
  expect((await shop.review(await shop.product(), 5, ada)).status).toBe('published')
})

test('an administrator sets and deletes the reply to a review', async () => {
  const shop = await useReviews()
  const mug = await shop.product()
  const { id } = await shop.review(mug)
  const path = `/api/catalog/reviews/${id}/reply`
  const answered = await shop.admin.put(path, { body: ' Thank you,\r\nAda ' }, { 'if-match': '"1"' })
  expect([answered.status, answered.headers.etag]).toEqual([200, '"2"'])
  const [shown] = (await shop.list(mug)).items
  expect(shown.reply).toEqual({ body: 'Thank you,\nAda', replied_at: expect.any(String) })
  for (const send of [
    () => shop.admin.put(path, { body: 'No' }, { 'if-match': '"1"' }),
    () => shop.admin.delete(path, undefined, { 'if-match': '"1"' }),
    () => shop.admin.post(`/api/catalog/reviews/${id}/reject`, { reason: 'x' }, { 'if-match': '"1"' }),
    () => shop.admin.delete(`/api/catalog/reviews/${id}`, undefined, { 'if-match': '"1"' })
  ])
    expect((await send()).json).toMatchObject({ code: 'REVIEW_STALE', version: 2 })
  expect((await shop.admin.delete(path)).json).toMatchObject({ reply: null, version: 3 })
  expect((await shop.admin.delete(path)).json.version).toBe(3)
  expect((await shop.list(mug)).items[0].reply).toBeNull()
})

test('administrators filter reviews, page by page', async () => {
  needsOwnShop()
  const shop = await useReviews(BEFORE)
  const [mug, jug] = [await shop.product(), await shop.product()]
  const buyer = shop.buyer(mug)
  const first = await shop.review(mug, 5, buyer)
  const second = await shop.review(jug, 5, buyer)
  const third = await shop.review(mug, 2)
  await shop.publish(third.id)
  const find = async (query: string) => {
    const { status, json, text } = await shop.admin.get(`/api/catalog/reviews?count=true${query}`)
    expect(status, text).toBe(200)
    return [json.total, ...json.items.map((item: { id: string }) => item.id)]
  }
  expect(await find('')).toEqual([3, third.id, second.id, first.id])
  expect(await find('&status=pending')).toEqual([2, second.id, first.id])
  expect(await find(`&product_id=${mug}`)).toEqual([2, third.id, first.id])
  expect(await find(`&customer_id=${buyer.id}&rating=5`)).toEqual([2, second.id, first.id])
  expect(await find('&verified=true')).toEqual([1, first.id])
  const { json } = await shop.admin.get('/api/catalog/reviews?limit=2')
  const next = await shop.admin.get(`/api/catalog/reviews?limit=2&cursor=${json.next_cursor}`)
  expect([json.items.length, next.json.items.map((item: { id: string }) => item.id)]).toEqual([2, [first.id]])
  const other = await shop.admin.get(`/api/catalog/reviews?rating=5&cursor=${json.next_cursor}`)
  expect(other.json.code).toBe('INVALID_CURSOR')
})
