import { expect, test } from 'vitest'
import { useReviews } from '../../../../test/support/reviews.ts'
import { customer } from '../../../testing.ts'
import { type ReviewsApi, reviewsModule } from '../index.ts'

async function usePeople() {
  const shop = await useReviews()
  const api = shop.apiOf(reviewsModule) as ReviewsApi
  return {
    ...shop,
    export: api.export,
    erase: (customerId: string) => shop.db.transaction(tx => api.erase(tx, customerId)),
    kept: () =>
      shop.sql(`select to_jsonb(r) as row from reviews.reviews r
        union all select to_jsonb(t) from reviews.turned_down t order by 1`)
  }
}

test('erasing a customer keeps published reviews without an author, and deletes all others', async () => {
  const shop = await usePeople()
  const [mug, jug, pot] = [await shop.product(), await shop.product(), await shop.product()]
  const [ada, bob] = [customer(), customer()]
  const words = { title: 'Good', body: 'Keeps warm', author: 'Ada L.' }
  const published = await shop.review(mug, 4, ada, words)
  const rejected = await shop.review(jug, 1, ada, { ...words, body: 'It was Lovelace who said so' })
  await shop.reject(rejected.id)
  const deleted = await shop.review(pot, 1, ada)
  await shop.admin.delete(`/api/catalog/reviews/${deleted.id}`)
  const ofBob = await shop.review(mug, 5, bob, { author: 'Bob' })
  expect(await shop.export(ada.id)).toMatchObject([
    { id: published.id, rating: 4, ...words, status: 'published' },
    { id: rejected.id, status: 'rejected', reason: 'it is about the parcel service' }
  ])
  expect(JSON.stringify(await shop.kept())).toContain(ada.id)

  await shop.erase(ada.id)
  const left = JSON.stringify(await shop.kept())
  for (const word of [ada.id, 'Ada', 'Lovelace']) expect(left).not.toContain(word)
  expect((await shop.list(mug)).items).toMatchObject([
    { id: ofBob.id, author: 'Bob' },
    { id: published.id, author: null, rating: 4, title: 'Good', body: 'Keeps warm' }
  ])
  expect(await shop.rating(mug)).toMatchObject({ average: 4.5, count: 2 })
  expect(await shop.export(ada.id)).toEqual([])
  // Administrators can still reject it.
  expect(await shop.reject(published.id)).toMatchObject({ customer_id: null })
  await shop.publish(published.id)
  expect((await shop.rating(mug)).count).toBe(2)

  const settled = await shop.kept()
  await shop.erase(ada.id)
  await shop.erase(customer().id)
  expect(await shop.kept()).toEqual(settled)
})
