import type { AdminReviewRow, ReviewRow } from './repository.ts'
import type { AdminReviewResponse, OwnReviewResponse, ReviewResponse } from './schema.ts'

type PublicReviewRow = Omit<
  ReviewRow,
  'product_id' | 'customer_id' | 'status' | 'reason' | 'version' | 'metadata'
>

/** Returns a review for the public. */
export const publicReviewView = (row: PublicReviewRow): ReviewResponse => ({
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
/** Returns a review for its author. */
export const ownReviewView = (row: ReviewRow): OwnReviewResponse => ({
  ...publicReviewView(row),
  product_id: row.product_id,
  status: row.status,
  reason: row.reason,
  metadata: row.metadata,
  version: row.version
})
/** Returns a review for administrators. */
export const adminReviewView = (row: AdminReviewRow): AdminReviewResponse => ({
  ...ownReviewView(row),
  customer_id: row.customer_id,
  private_metadata: row.private_metadata
})
