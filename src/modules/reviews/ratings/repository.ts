import { statement } from '../../../platform/postgres/statement.ts'

const STARS = [1, 2, 3, 4, 5] as const
const all = (write: (stars: number) => string) => STARS.map(write).join(', ')
const counts = {
  stars_1: 'int4',
  stars_2: 'int4',
  stars_3: 'int4',
  stars_4: 'int4',
  stars_5: 'int4'
} as const
const columns = Object.keys(counts).join(', ')
const published = all(stars => `(count(*) filter (where rating = ${stars}))::int4 as stars_${stars}`)

export const listRatings = statement({
  name: 'reviews.list_ratings',
  takes: { product_ids: 'uuid[]' },
  gives: { product_id: 'uuid', ...counts },
  text: `select product_id, ${columns} from reviews.ratings where product_id = any ($product_ids)`
})
/**
 * One published review says something else of a product: `before` and `after` are its stars, null while nobody sees it.
 * What is taken away was counted, so the row is there then.
 */
export const countReview = statement({
  name: 'reviews.count_review',
  takes: { product_id: 'uuid', before: 'int4?', after: 'int4?' },
  text: `
    insert into reviews.ratings (product_id, ${columns})
    values ($product_id, ${all(stars => `coalesce(($after::int4 = ${stars})::int4, 0)`)})
    on conflict (product_id) do update set
      ${all(stars => `stars_${stars} = ratings.stars_${stars} + excluded.stars_${stars} - coalesce(($before::int4 = ${stars})::int4, 0)`)}`
})

/** Products that have reviews or counts, behind one. */
export const listProductsAfter = statement({
  name: 'reviews.list_rated_products_after',
  takes: { after: 'uuid', limit: 'int8' },
  gives: { id: 'uuid' },
  text: `
    (select product_id as id from reviews.ratings where product_id > $after order by product_id limit $limit)
    union
    (select distinct product_id from reviews.reviews where product_id > $after order by product_id limit $limit)
    order by id limit $limit`
})
/** Of these products those whose counts are not those of their published reviews: both as they are in one moment. */
export const listMiscounted = statement({
  name: 'reviews.list_miscounted',
  takes: { product_ids: 'uuid[]' },
  gives: { id: 'uuid' },
  slow: true,
  text: `
    select wanted.id from unnest($product_ids::uuid[]) as wanted (id)
    left join reviews.ratings kept on kept.product_id = wanted.id
    cross join lateral (
      select ${published} from reviews.reviews where product_id = wanted.id and status = 'published'
    ) counted
    where (${all(stars => `counted.stars_${stars}`)}) <> (${all(stars => `coalesce(kept.stars_${stars}, 0)`)})`
})
export const insertMissing = statement({
  name: 'reviews.insert_missing_ratings',
  takes: { product_ids: 'uuid[]' },
  text: `
    insert into reviews.ratings (product_id, ${columns})
    select id, ${all(() => '0')} from unnest($product_ids::uuid[]) as wanted (id) order by id
    on conflict (product_id) do nothing`
})
/** Whoever changes a review and has not counted it yet waits from here on. */
export const lockRatings = statement({
  name: 'reviews.lock_ratings',
  takes: { product_ids: 'uuid[]' },
  gives: { product_id: 'uuid' },
  text: `
    select product_id from reviews.ratings where product_id = any ($product_ids) order by product_id for update`
})
export const recount = statement({
  name: 'reviews.recount_ratings',
  takes: { product_ids: 'uuid[]' },
  text: `
    update reviews.ratings kept set ${all(stars => `stars_${stars} = counted.stars_${stars}`)}
    from (
      select wanted.id, ${published} from unnest($product_ids::uuid[]) as wanted (id)
      left join reviews.reviews on product_id = wanted.id and status = 'published' group by wanted.id
    ) counted
    where kept.product_id = counted.id`
})
