import { expect, test } from 'vitest'
import { useReviews } from '../../../../test/support/reviews.ts'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import { newId } from '../../../kernel/ids.ts'
import { customer } from '../../../testing.ts'

shareShops()

test("a customer creates, replaces and deletes a review, which is public without the customer's id", async () => {
  const shop = await useReviews()
  const mug = await shop.product({ slug: 'mug' })
  const ada = customer()
  const own = shop.as(ada)
  const words = { title: 'Good', body: ' Keeps warm.\r\nAnd <b>blue</b>. ', author: 'Ada L.' }
  const created = await own.post('/api/products/mug/reviews', { rating: 4, ...words })
  expect([created.status, created.headers.etag]).toEqual([201, '"1"'])
  expect(created.json).toEqual({
    id: created.json.id,
    product_id: mug,
    rating: 4,
    title: 'Good',
    author: 'Ada L.',
    body: 'Keeps warm.\nAnd <b>blue</b>.',
    verified_purchase: false,
    reply: null,
    status: 'published',
    metadata: {},
    reason: null,
    version: 1,
    created_at: expect.any(String),
    updated_at: expect.any(String)
  })
  expect((await own.get(`/api/products/${mug}/reviews/mine`)).json).toEqual(created.json)
  const { product_id: _, status: _s, reason: _r, version: _v, metadata: _m, ...seen } = created.json
  expect(await shop.list('mug')).toEqual({ items: [seen], next_cursor: null, total: 1 })
  expect((await shop.anonymous.get('/api/products/mug/reviews')).text).not.toContain(ada.id)

  const again = await own.post(`/api/products/${mug}/reviews`, { rating: 1 })
  expect([again.status, again.json.code]).toEqual([409, 'REVIEW_EXISTS'])
  const changed = await own.put('/api/products/mug/reviews', { rating: 2 }, { 'if-match': '"1"' })
  expect([changed.status, changed.headers.etag]).toEqual([200, '"2"'])
  expect(changed.json).toMatchObject({ id: created.json.id, rating: 2, title: null, body: null, version: 2 })
  const same = await own.put('/api/products/mug/reviews', { rating: 2 })
  expect(same.json).toEqual(changed.json)

  for (const method of ['put', 'delete'] as const) {
    const stale = await own[method](
      '/api/products/mug/reviews',
      method === 'put' ? { rating: 3 } : undefined,
      {
        'if-match': '"1"'
      }
    )
    expect([stale.status, stale.json.code, stale.json.version]).toEqual([412, 'REVIEW_STALE', 2])
  }
  const condition = await shop
    .as(customer())
    .post('/api/products/mug/reviews', { rating: 3 }, { 'if-match': '"1"' })
  expect(condition.status).toBe(412)
  expect((await own.delete('/api/products/mug/reviews', undefined, { 'if-match': '"2"' })).status).toBe(204)
  expect(await shop.list('mug')).toEqual({ items: [], next_cursor: null, total: 0 })
  expect((await own.delete('/api/products/mug/reviews')).json.code).toBe('REVIEW_NOT_FOUND')
  expect((await own.post('/api/products/mug/reviews', { rating: 5 })).status).toBe(201)
})

test('a review without an author name gets the abbreviated name of the account', async () => {
  const shop = await useReviews()
  const mug = await shop.product()
  const [ada, bob] = [customer(), customer()]
  shop.auth.addContact({ ...ada, email: 'ada@example.com', name: 'Ada Lovelace' })
  shop.auth.addContact({ ...bob, email: 'bob@example.com', name: 'bob@example.com' })
  expect((await shop.review(mug, 5, ada)).author).toBe('Ada L.')
  expect((await shop.review(mug, 5, bob)).author).toBeNull()
  expect((await shop.anonymous.get(`/api/products/${mug}/reviews`)).text).not.toMatch(/Lovelace|@/)
  const named = await shop.as(ada).put(`/api/products/${mug}/reviews`, { rating: 5, author: 'Countess' })
  expect(named.json.author).toBe('Countess')
})

test('an unknown review, or one of another customer, is not found', async () => {
  const shop = await useReviews()
  const mug = await shop.product()
  const draft = await shop.product({ status: 'draft' })
  await shop.review(mug)
  const stranger = shop.as(customer())
  const send = (who: typeof stranger, product: string) => [
    who.get(`/api/products/${product}/reviews/mine`),
    who.put(`/api/products/${product}/reviews`, { rating: 1 }),
    who.delete(`/api/products/${product}/reviews`)
  ]
  for (const answer of await Promise.all(send(stranger, mug)))
    expect([answer.status, answer.json.code]).toEqual([404, 'REVIEW_NOT_FOUND'])
  for (const product of [draft, newId(), 'no-such-product']) {
    const answers = [
      ...send(stranger, product),
      stranger.post(`/api/products/${product}/reviews`, { rating: 1 }),
      shop.anonymous.get(`/api/products/${product}/reviews`),
      shop.anonymous.get(`/api/products/${product}/reviews/rating`)
    ]
    for (const answer of await Promise.all(answers))
      expect([answer.status, answer.json.code]).toEqual([404, 'CATALOG_PRODUCT_NOT_FOUND'])
  }
  expect((await shop.list(mug)).items).toMatchObject([{ rating: 5 }])
})

test('a review must have stars and plain text within limits', async () => {
  const shop = await useReviews()
  const mug = await shop.product()
  const own = shop.as(customer())
  const refused: [string, object][] = [
    ['body/rating', { rating: 0 }],
    ['body/rating', { rating: 6 }],
    ['body/rating', { rating: 4.5 }],
    ['body/rating', { rating: '5' }],
    ['body/rating', { title: 'Good' }],
    ['body/title', { rating: 5, title: 'a'.repeat(151) }],
    ['body/title', { rating: 5, title: 'Good\nmug' }],
    ['body/title', { rating: 5, title: ' \u00a0' }],
    ['body/title', { rating: 5, title: 'evil \u202egum' }],
    ['body/body', { rating: 5, body: 'a'.repeat(5_001) }],
    ['body/body', { rating: 5, body: 'be\u0007ll' }],
    ['body/body', { rating: 5, body: ' '.repeat(5_000) }],
    ['body/author', { rating: 5, author: 'ada@example.com' }],
    ['body/author', { rating: 5, author: 'a'.repeat(81) }]
  ]
  for (const [path, body] of refused) {
    const { status, json } = await own.post(`/api/products/${mug}/reviews`, body)
    expect([status, json.errors?.[0]?.path], JSON.stringify(body)).toEqual([400, path])
  }
  for (const body of [
    { rating: 5, status: 'published' },
    { rating: 5, body: 'a\0' },
    { rating: 5, title: '\ud800' }
  ])
    expect((await own.post(`/api/products/${mug}/reviews`, body)).status).toBe(400)
  expect((await shop.list(mug)).total).toBe(0)
  const most = {
    title: '☕'.repeat(150),
    body: `${'a'.repeat(2_499)}\n\n${'b'.repeat(2_499)}`,
    author: 'Zoë 李'
  }
  expect(await shop.review(mug, 5, customer(), most)).toMatchObject(most)
})

test('of many concurrent first reviews by one customer, one is created', async () => {
  const shop = await useReviews()
  const mug = await shop.product()
  const own = shop.as(customer())
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      own.post(`/api/products/${mug}/reviews`, { rating: 1 + (index % 5) })
    )
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(11).fill(409)])
  expect((await shop.rating(mug)).count).toBe(1)
})

test('if only buyers may review, other customers are rejected, and earlier reviews can be replaced', async () => {
  const shop = await useReviews({ settings: { CARTWRIGHT__REVIEWS__ALLOWED_AUTHORS: 'buyers' } })
  const [mug, jug] = [await shop.product(), await shop.product()]
  const buyer = shop.buyer(mug)
  expect(await shop.review(mug, 4, buyer)).toMatchObject({ verified_purchase: true })
  const refused = await shop.as(buyer).post(`/api/products/${jug}/reviews`, { rating: 1 })
  expect([refused.status, refused.json.code]).toEqual([403, 'REVIEW_PURCHASE_NEEDED'])
  expect((await shop.rating(jug)).count).toBe(0)
  shop.orders?.cancel(buyer.order)
  const changed = await shop.as(buyer).put(`/api/products/${mug}/reviews`, { rating: 5 })
  expect(changed.json).toMatchObject({ rating: 5, verified_purchase: false })
  const off = await useReviews({
    orders: null,
    databaseUrl: shop.databaseUrl,
    settings: { CARTWRIGHT__REVIEWS__ALLOWED_AUTHORS: 'buyers' }
  })
  expect((await off.as(customer()).post(`/api/products/${jug}/reviews`, { rating: 1 })).status).toBe(403)
})

test('reviews are limited per customer and minute', async () => {
  const shop = await useReviews({
    settings: { CARTWRIGHT__RATE_LIMIT__ENABLED: 'true', CARTWRIGHT__REVIEWS__WRITES_PER_MINUTE: '2' }
  })
  const mug = await shop.product()
  const own = shop.as(customer())
  const path = `/api/products/${mug}/reviews`
  const statuses = [
    (await own.post(path, { rating: 5 })).status,
    (await own.put(path, { rating: 4 })).status,
    (await own.put(path, { rating: 3 })).status
  ]
  expect(statuses).toEqual([201, 200, 429])
})
