import { countUpTo } from '../../../platform/postgres/counting.ts'
import { statement } from '../../../platform/postgres/statement.ts'
import { namesOf, publicColumns } from '../reviews/repository.ts'
import type { Sort } from './schema.ts'

const filters = { product_id: 'uuid', rating: 'int4?', verified: 'bool?' } as const
const isListed = `
  product_id = $product_id and status = 'published'
  and ($rating::int4 is null or rating = $rating) and ($verified::bool is null or verified_purchase = $verified)`

/** Published reviews of a product behind a place: so many stars, and an id. */
const listBy = (name: Sort, behind: string, order: string) =>
  statement({
    name: `reviews.list_published_${name}`,
    takes: { ...filters, stars: 'int8', id: 'uuid', limit: 'int8' },
    gives: publicColumns,
    // Planned for the values that it is given: what is null is no part of the plan.
    slow: true,
    text: `
    select ${namesOf(publicColumns)} from reviews.reviews
    where ${behind} and ${isListed} order by ${order} limit $limit`
  })
export const listPublished = {
  newest: listBy('newest', '$stars::int8 = 0 and id < $id', 'id desc'),
  oldest: listBy('oldest', '$stars::int8 = 0 and id > $id', 'id'),
  highest: listBy('highest', '(rating, id) < ($stars::int8, $id)', 'rating desc, id desc'),
  lowest: listBy('lowest', '(rating, id) > ($stars::int8, $id)', 'rating, id')
} satisfies Record<Sort, unknown>
export const countPublished = statement({
  name: 'reviews.count_published',
  takes: filters,
  gives: { total: 'int4' },
  slow: true,
  text: countUpTo(`reviews.reviews where ${isListed}`)
})
