import { expect, test } from 'vitest'
import { useReviews } from '../../../../test/support/reviews.ts'
import { shareShops } from '../../../../test/support/shared-shops.ts'

shareShops()

type Item = { id: string; rating: number }

test('each sort order of reviews lists every review exactly once, page by page', async () => {
  const shop = await useReviews()
  const [mug, jug] = [await shop.product(), await shop.product()]
  const stars = [3, 5, 1, 5, 3, 4, 1]
  const written: Item[] = []
  for (const rating of stars) written.push(await shop.review(mug, rating))
  // Two reviews of the same millisecond are sorted by the rest of their ids.
  written.sort((a, b) => (a.id < b.id ? -1 : 1))
  await shop.review(jug, 2)
  const walk = async (query: string) => {
    const items: Item[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page = await shop.list(mug, `&limit=3&${query}${cursor && `&cursor=${cursor}`}`)
      items.push(...page.items)
      cursor = page.next_cursor
    }
    return items.map(({ id }) => id)
  }
  const ids = (items: readonly Item[]) => items.map(({ id }) => id)
  const byStars = (a: Item, b: Item) => a.rating - b.rating || (a.id < b.id ? -1 : 1)
  expect(await walk('sort=oldest')).toEqual(ids(written))
  expect(await walk('')).toEqual(ids(written.toReversed()))
  expect(await walk('sort=lowest')).toEqual(ids(written.toSorted(byStars)))
  expect(await walk('sort=highest')).toEqual(ids(written.toSorted(byStars).toReversed()))
  expect(await walk('rating=5&sort=oldest')).toEqual(ids(written.filter(({ rating }) => rating === 5)))
  expect((await shop.list(mug, '&rating=5&limit=1')).total).toBe(2)

  const { next_cursor } = await shop.list(mug, '&limit=1&sort=highest')
  for (const query of ['sort=lowest', 'sort=highest&rating=5']) {
    const path = `/api/products/${mug}/reviews?${query}&cursor=${next_cursor}`
    expect((await shop.anonymous.get(path)).json.code, query).toBe('INVALID_CURSOR')
  }
})

test('public reviews can be cached, and their ETag changes with them', async () => {
  const shop = await useReviews()
  const mug = await shop.product()
  await shop.review(mug, 4)
  for (const path of [`/api/products/${mug}/reviews`, `/api/products/${mug}/reviews/rating`]) {
    const { headers } = await shop.anonymous.get(path)
    expect(headers['cache-control']).toBe('public, max-age=0, stale-if-error=300')
    const tag = { 'if-none-match': String(headers.etag) }
    expect((await shop.anonymous.get(path, undefined, tag)).status).toBe(304)
    await shop.review(mug, 5)
    expect((await shop.anonymous.get(path, undefined, tag)).status).toBe(200)
  }
  expect(await shop.rating(mug)).toEqual({
    average: 4.67,
    count: 3,
    histogram: { '1': 0, '2': 0, '3': 0, '4': 1, '5': 2 }
  })
  expect(await shop.rating(await shop.product())).toMatchObject({ average: null, count: 0 })
})

test('a list of reviews takes two statements, and one with a cached rating', async () => {
  const shop = await useReviews()
  const mug = await shop.product()
  await shop.review(mug, 4)
  await shop.rating(mug)
  const sentBy = async (path: string) => {
    const { result, statements } = await shop.record(() => shop.anonymous.get(path))
    expect(result.status).toBe(200)
    return statements
  }
  expect(await sentBy(`/api/products/${mug}/reviews`)).toEqual([
    ...['catalog.find_active_product_id', 'reviews.list_published_newest']
  ])
  // The cache is cleared when messages may have been missed.
  await expect
    .poll(() => sentBy(`/api/products/${mug}/reviews/rating`))
    .toEqual(['catalog.find_active_product_id'])
})

test('a disabled reviews module responds 503 and products work; without orders no review is a verified purchase', async () => {
  const shop = await useReviews({ settings: { CARTWRIGHT__MODULES__REVIEWS__ENABLED: 'false' } })
  const mug = await shop.product({ slug: 'mug' })
  for (const path of [
    `/api/products/${mug}/reviews`,
    '/api/products/mug/reviews/rating',
    '/api/catalog/reviews'
  ])
    for (const method of ['get', 'post', 'put', 'delete'] as const) {
      const { status, json } = await shop.anonymous[method](path)
      expect([status, Object.keys(json)], `${method} ${path}`).toEqual([503, ['error']])
      expect(json.error).toContain('modules.reviews.enabled: true')
    }
  expect((await shop.anonymous.get('/api/products/mug')).status).toBe(200)
  const alone = await useReviews({ orders: null, databaseUrl: shop.databaseUrl })
  expect(await alone.review(mug, 5)).toMatchObject({ verified_purchase: false, status: 'published' })
  expect((await alone.list(mug, '&verified=true')).total).toBe(0)
})
