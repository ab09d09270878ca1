import { statement } from '../../../platform/postgres/statement.ts'

const STARS = [1, 2, 3, 4, 5] as const
const forEachStar = (write: (stars: number) => string) => STARS.map(write).join(', ')
const counts = {
  stars_1: 'int4',
  stars_2: 'int4',
  stars_3: 'int4',
  stars_4: 'int4',
  stars_5: 'int4'
} as const
const columns = Object.keys(counts).join(', ')
const publishedCounts = forEachStar(
  stars => `(count(*) filter (where rating = ${stars}))::int4 as stars_${stars}`
)

export const listStoredProductRatings = statement({
  name: 'reviews.list_ratings',
  takes: { product_ids: 'uuid[]' },
  gives: { product_id: 'uuid', ...counts },
  text: `select product_id, ${columns} from reviews.ratings where product_id = any ($product_ids)`
})
/**
 * Applies the change of one review to the rating of its product. `before` and `after`: its stars, null while
 * the review is not published. A review with `before` was counted, so the row exists then.
 */
export const updateProductRating = statement({
  name: 'reviews.count_review',
  takes: { product_id: 'uuid', before: 'int4?', after: 'int4?' },
  text: `
    insert into reviews.ratings (product_id, ${columns})
    values ($product_id, ${forEachStar(stars => `coalesce(($after::int4 = ${stars})::int4, 0)`)})
    on conflict (product_id) do update set
      ${forEachStar(stars => `stars_${stars} = ratings.stars_${stars} + excluded.stars_${stars} - coalesce(($before::int4 = ${stars})::int4, 0)`)}`
})

/** Lists products that have reviews or a rating, after the id `after`. */
export const listReviewedOrRatedProductIds = statement({
  name: 'reviews.list_rated_products_after',
  takes: { after: 'uuid', limit: 'int8' },
  gives: { id: 'uuid' },
  text: `
    (select product_id as id from reviews.ratings where product_id > $after order by product_id limit $limit)
    union
    (select distinct product_id from reviews.reviews where product_id > $after order by product_id limit $limit)
    order by id limit $limit`
})
/**
 * Lists which of these products have a rating that differs from their published reviews. Both are read in one
 * snapshot.
 */
export const listMiscountedProductRatings = statement({
  name: 'reviews.list_miscounted',
  takes: { product_ids: 'uuid[]' },
  gives: { id: 'uuid' },
  slow: true,
  primaryOnly: true,
  text: `
    select wanted.id from unnest($product_ids::uuid[]) as wanted (id)
    left join reviews.ratings kept on kept.product_id = wanted.id
    cross join lateral (
      select ${publishedCounts} from reviews.reviews where product_id = wanted.id and status = 'published'
    ) counted
    where (${forEachStar(stars => `counted.stars_${stars}`)}) <> (${forEachStar(stars => `coalesce(kept.stars_${stars}, 0)`)})`
})
export const insertMissingProductRatings = statement({
  name: 'reviews.insert_missing_ratings',
  takes: { product_ids: 'uuid[]' },
  text: `
    insert into reviews.ratings (product_id, ${columns})
    select id, ${forEachStar(() => '0')} from unnest($product_ids::uuid[]) as wanted (id) order by id
    on conflict (product_id) do nothing`
})
/** Locks the ratings. Transactions that change a review and have not updated its rating wait for the lock. */
export const lockProductRatings = statement({
  name: 'reviews.lock_ratings',
  takes: { product_ids: 'uuid[]' },
  gives: { product_id: 'uuid' },
  text: `
    select product_id from reviews.ratings where product_id = any ($product_ids) order by product_id for update`
})
export const recalculateProductRatings = statement({
  name: 'reviews.recount_ratings',
  takes: { product_ids: 'uuid[]' },
  text: `
    update reviews.ratings kept set ${forEachStar(stars => `stars_${stars} = counted.stars_${stars}`)}
    from (
      select wanted.id, ${publishedCounts} from unnest($product_ids::uuid[]) as wanted (id)
      left join reviews.reviews on product_id = wanted.id and status = 'published' group by wanted.id
    ) counted
    where kept.product_id = counted.id`
})
