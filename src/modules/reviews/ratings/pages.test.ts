import { expect, test } from 'vitest'
import { useReviews } from '../../../../test/support/reviews.ts'
import { customer } from '../../../testing.ts'

test('products show their rating in each process, without a statement once it is cached', async () => {
  const shop = await useReviews()
  const other = await useReviews({ databaseUrl: shop.databaseUrl })
  const mug = await shop.product({ slug: 'mug' })
  await shop.product({ slug: 'jug' })
  const read = async ({ anonymous }: Pick<typeof shop, 'anonymous'>) => {
    const page = await anonymous.get('/api/products/mug')
    const { items } = (await anonymous.get('/api/products')).json
    const listed = items.find((item: { id: string }) => item.id === mug)
    return { page: page.json.rating, listed: listed?.rating, etag: page.headers.etag }
  }
  const none = { average: null, count: 0 }
  expect(await read(shop)).toMatchObject({ page: none, listed: none })
  const { etag } = await read(other)
  const ada = customer()
  await shop.review(mug, 4, ada)
  await shop.review(mug, 5)
  const rated = { average: 4.5, count: 2 }
  // This process sees the change immediately, others a moment later.
  expect(await read(shop)).toMatchObject({ page: rated, listed: rated })
  await expect.poll(() => read(other)).toMatchObject({ page: rated, listed: rated })
  expect((await read(other)).etag).not.toBe(etag)

  // The cache is cleared when messages may have been missed.
  const sent = async () => (await shop.record(() => read(shop))).statements
  await expect.poll(sent).toEqual([])
  await shop.as(ada).delete('/api/products/mug/reviews')
  expect((await read(shop)).page).toEqual({ average: 5, count: 1 })
})
