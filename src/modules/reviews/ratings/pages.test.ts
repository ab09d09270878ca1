import { expect, test } from 'vitest'
import { useReviews } from '../../../../test/support/reviews.ts'
import { customer } from '../../../testing.ts'

test('products tell what they are rated, in each process, for no statement once it is known', async () => {
  const shop = await useReviews()
  const other = await useReviews({ databaseUrl: shop.databaseUrl })
  const mug = await shop.product({ slug: 'mug' })
  await shop.product({ slug: 'jug' })
  const read = async ({ anybody }: Pick<typeof shop, 'anybody'>) => {
    const page = await anybody.get('/api/products/mug')
    const { items } = (await anybody.get('/api/products')).json
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
  // This process knows at once, others a moment later.
  expect(await read(shop)).toMatchObject({ page: rated, listed: rated })
  await expect.poll(() => read(other)).toMatchObject({ page: rated, listed: rated })
  expect((await read(other)).etag).not.toBe(etag)

  // What is kept is forgotten whenever a message may have been missed.
  const sent = async () => (await shop.record(() => read(shop))).statements
  await expect.poll(sent).toEqual([])
  await shop.as(ada).delete('/api/products/mug/reviews')
  expect((await read(shop)).page).toEqual({ average: 5, count: 1 })
})
