import { defineError } from '../../kernel/errors.ts'

export const reviewNotFound = defineError('not_found', 'REVIEW_NOT_FOUND', 'There is no such review.')
export const reviewStale = defineError(
  'stale',
  'REVIEW_STALE',
  'The review was changed in the meantime; read it again.'
)
export const purchaseNeeded = defineError(
  'forbidden',
  'REVIEW_PURCHASE_NEEDED',
  'In this shop those review a product who have bought it with this account.'
)
export const statusForbids = defineError(
  'conflict',
  'REVIEW_STATUS_FORBIDS',
  'What the review is now forbids it; "review_status" says what it is.'
)

// Nobody throws this: a row that the constraint refuses is this error.
defineError('conflict', 'REVIEW_EXISTS', 'You have reviewed this product; change that review instead.', {
  constraints: ['reviews.reviews_once']
})
