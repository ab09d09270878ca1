import { countUpTo } from '../../../platform/postgres/counting.ts'
import { statement } from '../../../platform/postgres/statement.ts'
import { columnNamesOf, publicReviewColumns } from '../reviews/repository.ts'
import type { ReviewSort } from './schema.ts'

const filters = { product_id: 'uuid', rating: 'int4?', verified: 'bool?' } as const
const isListed = `
  product_id = $product_id and status = 'published'
  and ($rating::int4 is null or rating = $rating) and ($verified::bool is null or verified_purchase = $verified)`

/** Lists published reviews of a product after a cursor of stars and id. */
const listBy = (name: ReviewSort, isAfter: string, order: string) =>
  statement({
    name: `reviews.list_published_${name}`,
    takes: { ...filters, stars: 'int8', id: 'uuid', limit: 'int8' },
    gives: publicReviewColumns,
    // Slow statements are planned for their values, so that filters that are null are removed from the plan.
    slow: true,
    text: `
    select ${columnNamesOf(publicReviewColumns)} from reviews.reviews
    where ${isAfter} and ${isListed} order by ${order} limit $limit`
  })
export const listPublishedReviewsBySort = {
  newest: listBy('newest', '$stars::int8 = 0 and id < $id', 'id desc'),
  oldest: listBy('oldest', '$stars::int8 = 0 and id > $id', 'id'),
  highest: listBy('highest', '(rating, id) < ($stars::int8, $id)', 'rating desc, id desc'),
  lowest: listBy('lowest', '(rating, id) > ($stars::int8, $id)', 'rating, id')
} satisfies Record<ReviewSort, unknown>
export const countPublishedReviews = statement({
  name: 'reviews.count_published',
  takes: filters,
  gives: { total: 'int4' },
  slow: true,
  text: countUpTo(`reviews.reviews where ${isListed}`)
})
