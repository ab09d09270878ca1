import type { Metadata } from '../../../kernel/metadata.ts'
import { countUpTo } from '../../../platform/postgres/counting.ts'
import { hasMetadataSql } from '../../../platform/postgres/metadata.ts'
import { nullableJson, nullableOneOf, statement } from '../../../platform/postgres/statement.ts'
import { adminReviewColumns, columnNamesOf } from '../reviews/repository.ts'
import type { ReviewStatus } from '../reviews/status.ts'

/** Filters of the moderation list. A null filter matches all reviews. */
const filters = {
  status: nullableOneOf<ReviewStatus>(),
  product_id: 'uuid?',
  customer_id: 'uuid?',
  rating: 'int4?',
  verified: 'bool?',
  metadata: nullableJson<Metadata>()
} as const
const matching = `
  ($status::text is null or status = $status)
  and ($product_id::uuid is null or product_id = $product_id)
  and ($customer_id::uuid is null or customer_id = $customer_id)
  and ($rating::int4 is null or rating = $rating)
  and ($verified::bool is null or verified_purchase = $verified)
  and ${hasMetadataSql}`

export const listReviews = statement({
  name: 'reviews.list_reviews',
  takes: { ...filters, after: 'uuid', limit: 'int8' },
  gives: adminReviewColumns,
  slow: true,
  text: `
    select ${columnNamesOf(adminReviewColumns)} from reviews.reviews
    where id < $after and ${matching} order by id desc limit $limit`
})
export const countReviews = statement({
  name: 'reviews.count_reviews',
  takes: filters,
  gives: { total: 'int4' },
  slow: true,
  text: countUpTo(`reviews.reviews where ${matching}`)
})
