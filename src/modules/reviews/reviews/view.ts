import type { ReviewRow } from './repository.ts'
import type { AdminReviewResponse, OwnReviewResponse, ReviewResponse } from './schema.ts'

type Shown = Omit<ReviewRow, 'product_id' | 'customer_id' | 'status' | 'reason' | 'version'>

/** A review as everybody sees it. */
export const present = (row: Shown): ReviewResponse => ({
  id: row.id,
  rating: row.rating,
  title: row.title,
  body: row.body,
  author: row.author,
  verified_purchase: row.verified_purchase,
  reply:
    row.reply === null || row.replied_at === null ? null : { body: row.reply, replied_at: row.replied_at },
  created_at: row.created_at,
  updated_at: row.updated_at
})
/** As its author sees it. */
export const presentOwn = (row: ReviewRow): OwnReviewResponse => ({
  ...present(row),
  product_id: row.product_id,
  status: row.status,
  reason: row.reason,
  version: row.version
})
/** As administrators see it. */
export const presentToAdmin = (row: ReviewRow): AdminReviewResponse => ({
  ...presentOwn(row),
  customer_id: row.customer_id
})
