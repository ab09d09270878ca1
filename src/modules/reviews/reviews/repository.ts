import type { Metadata } from '../../../kernel/metadata.ts'
import { metadataUpdateStatement } from '../../../platform/postgres/metadata.ts'
import { json, oneOf, type RowOf, statement } from '../../../platform/postgres/statement.ts'
import type { ReviewStatus } from './status.ts'

/** Columns that are public. */
export const publicReviewColumns = {
  id: 'uuid',
  rating: 'int4',
  title: 'text?',
  body: 'text?',
  author: 'text?',
  verified_purchase: 'bool',
  reply: 'text?',
  replied_at: 'timestamptz?',
  created_at: 'timestamptz',
  updated_at: 'timestamptz'
} as const
export const reviewColumns = {
  ...publicReviewColumns,
  product_id: 'uuid',
  customer_id: 'uuid?',
  status: oneOf<ReviewStatus>(),
  reason: 'text?',
  version: 'int4',
  metadata: json<Metadata>()
} as const
/** Columns for administrators. */
export const adminReviewColumns = { ...reviewColumns, private_metadata: json<Metadata>() } as const
export const columnNamesOf = (some: object) => Object.keys(some).join(', ')
const names = columnNamesOf(reviewColumns)
export const updateReviewMetadata = metadataUpdateStatement(
  'reviews.update_metadata',
  'reviews.reviews',
  ', version = changed.version + 1'
)
const reviewKey = { customer_id: 'uuid', product_id: 'uuid' } as const

export const findReview = statement({
  name: 'reviews.find_review',
  takes: { id: 'uuid' },
  gives: adminReviewColumns,
  text: `select ${columnNamesOf(adminReviewColumns)} from reviews.reviews where id = $id`
})
export type AdminReviewRow = RowOf<typeof findReview>
export const lockReview = statement({
  name: 'reviews.lock_review',
  takes: { id: 'uuid' },
  gives: reviewColumns,
  text: `select ${names} from reviews.reviews where id = $id for update`
})
export type ReviewRow = RowOf<typeof lockReview>
export const findOwnReview = statement({
  name: 'reviews.find_own_review',
  takes: reviewKey,
  gives: reviewColumns,
  text: `select ${names} from reviews.reviews where customer_id = $customer_id and product_id = $product_id`
})
export const lockOwnReview = statement({
  name: 'reviews.lock_own_review',
  takes: reviewKey,
  gives: reviewColumns,
  text: `
    select ${names} from reviews.reviews
    where customer_id = $customer_id and product_id = $product_id for update`
})
/**
 * Locks the reviews of these customers until the transaction ends. Writes of reviews and updates of verified
 * purchases exclude each other, so that neither misses a change of the other. Sort `customer_ids` to prevent
 * deadlocks.
 */
export const lockReviewWritesOfCustomers = statement({
  name: 'reviews.lock_customers',
  takes: { customer_ids: 'text[]' },
  text: `
    select pg_advisory_xact_lock(hashtextextended('reviews ' || id, 0))
    from unnest($customer_ids::text[]) as customers (id)`
})
const written = {
  rating: 'int4',
  title: 'text?',
  body: 'text?',
  author: 'text?',
  verified_purchase: 'bool',
  status: 'text'
} as const
export const insertReview = statement({
  name: 'reviews.insert_review',
  takes: { id: 'uuid', ...reviewKey, ...written },
  gives: { version: 'int4' },
  text: `
    insert into reviews.reviews (
      id, customer_id, product_id, rating, title, body, author, verified_purchase, status)
    values ($id, $customer_id, $product_id, $rating, $title, $body, $author, $verified_purchase, $status)
    returning version`
})
/**
 * Updates a review that its author changed. Clears the reason of a rejection, because it was about the
 * earlier text.
 */
export const updateReviewText = statement({
  name: 'reviews.update_written_review',
  takes: { id: 'uuid', ...written },
  gives: { version: 'int4' },
  text: `
    update reviews.reviews set
      rating = $rating, title = $title, body = $body, author = $author, verified_purchase = $verified_purchase,
      status = $status, reason = null, version = version + 1, updated_at = now()
    where id = $id
    returning version`
})
export const updateReviewDecision = statement({
  name: 'reviews.update_decided_review',
  takes: { id: 'uuid', status: 'text', reason: 'text?' },
  gives: { version: 'int4' },
  text: `
    update reviews.reviews set status = $status, reason = $reason, version = version + 1 where id = $id
    returning version`
})
/** Sets the reply of the shop to a review. A null `reply` deletes it. */
export const updateReviewReply = statement({
  name: 'reviews.update_reply',
  takes: { id: 'uuid', reply: 'text?' },
  text: `
    update reviews.reviews set
      reply = $reply, replied_at = case when $reply::text is not null then now() end, version = version + 1
    where id = $id`
})
export const deleteReview = statement({
  name: 'reviews.delete_review',
  takes: { id: 'uuid' },
  text: 'delete from reviews.reviews where id = $id'
})

export const existsReviewRejectionRecord = statement({
  name: 'reviews.find_turned_down',
  takes: reviewKey,
  gives: { found: 'bool' },
  text: `
    select exists (
      select from reviews.turned_down where customer_id = $customer_id and product_id = $product_id) as found`
})
export const insertReviewRejectionRecord = statement({
  name: 'reviews.insert_turned_down',
  takes: reviewKey,
  text: `
    insert into reviews.turned_down (customer_id, product_id) values ($customer_id, $product_id)
    on conflict do nothing`
})
export const deleteReviewRejectionRecord = statement({
  name: 'reviews.delete_turned_down',
  takes: reviewKey,
  text: 'delete from reviews.turned_down where customer_id = $customer_id and product_id = $product_id'
})
