import { expect, test } from 'vitest'
import { useReviews } from '../../../../test/support/reviews.ts'
import { customer, type TestResponse } from '../../../testing.ts'
import { repairProductRatings } from './check.ts'
import { createProductRatingService } from './service.ts'

/** 32 concurrent customers, eight rounds, four operations each: 1,024 in total. */
const AT_ONCE = 32
const LIVES = 8
const DEEDS = 4

/** The rating and the published reviews of each product that has either. */
const COUNTED = `
  select product_id, array[stars_1, stars_2, stars_3, stars_4, stars_5] as stars from reviews.ratings
  order by product_id`
const PUBLISHED = `
  select wanted.product_id, array_agg(count order by rating) as stars
  from reviews.ratings wanted cross join generate_series(1, 5) as rating
  cross join lateral (
    select count(*)::int from reviews.reviews r
    where r.product_id = wanted.product_id and r.rating = rating.rating and r.status = 'published') as counted
  group by wanted.product_id order by wanted.product_id`

/** Returns the same pseudo-random numbers in each run. */
function createDice(seed: number) {
  let state = seed
  return (sides: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * sides)
  }
}

test('the ratings of three products are exact after a thousand concurrent writes, decisions and deletions', {
  timeout: 120_000
}, async () => {
  const first = await useReviews()
  const second = await useReviews({ databaseUrl: first.databaseUrl })
  const shops = [first, second]
  const products = [await first.product(), await first.product(), await first.product()]
  const roll = createDice(7)
  const known: string[] = []
  const statuses = new Map<number, number>()
  /** Retries requests that a busy machine rejects. */
  const done = async (send: () => Promise<TestResponse>) => {
    let answer = await send()
    for (let tries = 1; answer.status === 503 && tries < 100; tries += 1) answer = await send()
    expect([200, 201, 204, 404, 409], answer.text).toContain(answer.status)
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
    return answer
  }

  /** A customer writes a review, then random operations change it and reviews of others. */
  const life = async (shop: typeof first) => {
    const own = shop.as(customer())
    const path = `/api/products/${products[roll(products.length)]}/reviews`
    const write = () => done(() => own.post(path, { rating: 1 + roll(5) }))
    const created = await write()
    if (created.status === 201) known.push(created.json.id)
    for (let deeds = 1; deeds < DEEDS; deeds += 1) {
      const some = `/api/catalog/reviews/${known[roll(known.length)]}`
      const deed = roll(6)
      if (deed < 2) await done(() => own.put(path, { rating: 1 + roll(5) }))
      else if (deed === 2) await done(() => own.delete(path))
      else if (deed === 3) await done(() => shop.admin.post(`${some}/reject`, { reason: 'x' }))
      else if (deed === 4) await done(() => shop.admin.post(`${some}/publish`))
      else await write()
    }
  }
  const lives = async (_: unknown, index: number) => {
    for (let each = 0; each < LIVES; each += 1) await life(shops[index % 2] ?? first)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lives))

  const counted = await first.sql(COUNTED)
  expect(counted).toEqual(await first.sql(PUBLISHED))
  expect(counted).toHaveLength(products.length)
  expect(Math.min(...[200, 201, 204, 409].map(status => statuses.get(status) ?? 0))).toBeGreaterThan(20)
  for (const shop of shops)
    for (const product of products) {
      const { total } = await shop.list(product)
      await expect.poll(async () => (await shop.rating(product)).count).toBe(total)
    }
})

test('wrong product ratings are repaired while reviews are written', async () => {
  const shop = await useReviews()
  const [mug, jug, pot] = [await shop.product(), await shop.product(), await shop.product()]
  for (const product of [mug, mug, jug, pot]) await shop.review(product, 4)
  const ratings = createProductRatingService(shop.platform)
  const check = () => repairProductRatings({ db: shop.db, ratings }, AbortSignal.timeout(60_000))
  expect(await check()).toEqual([])
  expect((await shop.rating(mug)).count).toBe(2)

  await shop.sql('update reviews.ratings set stars_4 = 0, stars_1 = 9 where product_id = $1', [mug])
  await shop.sql('delete from reviews.ratings where product_id = $1', [pot])
  const [mended] = await Promise.all([
    check(),
    ...Array.from({ length: 20 }, (_, index) => shop.review([mug, pot][index % 2] ?? mug, 1 + (index % 5)))
  ])
  expect(mended.toSorted()).toEqual([mug, pot].toSorted())
  expect(await check()).toEqual([])
  expect(await shop.sql(COUNTED)).toEqual(await shop.sql(PUBLISHED))
  await expect.poll(async () => (await shop.rating(mug)).count).toBe(12)
})
