import { defineError } from '../../kernel/errors.ts'

export const reviewNotFoundError = defineError('not_found', 'REVIEW_NOT_FOUND', 'The review does not exist.')
export const reviewStaleError = defineError(
  'stale',
  'REVIEW_STALE',
  'The review has changed since it was read. Read it again.'
)
export const reviewPurchaseNeededError = defineError(
  'forbidden',
  'REVIEW_PURCHASE_NEEDED',
  'Only customers who bought the product with this account can review it.'
)
export const reviewStatusForbidsError = defineError(
  'conflict',
  'REVIEW_STATUS_FORBIDS',
  'The status of the review does not allow this. `review_status` is its present status.'
)

// Error that only a constraint of the database raises.
defineError('conflict', 'REVIEW_EXISTS', 'You have reviewed this product before. Replace that review.', {
  constraints: ['reviews.reviews_once']
})
