import { expect, test } from 'vitest'
import { customer } from '../src/testing.ts'
import { runExamples } from './support/page-examples.ts'
import { useReviews } from './support/reviews.ts'

test('the examples of docs/reviews.md run in their order', async () => {
  const shop = await useReviews()
  await shop.product({ slug: 'fika-mug' })
  const origin = await shop.listen()
  const said = await runExamples('reviews.md', {
    origin,
    tells: ['written', 'changed', 'list', 'rating', 'mine', 'waiting', 'rejected', 'answered'],
    env: { ADMIN_TOKEN: 'admin', TOKEN: customer().token }
  })
  expect(said).toMatchObject({
    written: { rating: 4, author: 'Ada', status: 'published', version: 1 },
    changed: { rating: 5, body: null, version: 2 },
    list: { items: [{ rating: 5, title: 'Keeps warm' }], total: 1 },
    rating: { average: 5, count: 1, histogram: { '4': 0, '5': 1 } },
    mine: { status: 'published', reason: null },
    waiting: { items: [] },
    rejected: { status: 'rejected', reason: 'It is about the parcel service.' },
    answered: { status: 'published', reply: { body: 'Thank you!' } }
  })
})
