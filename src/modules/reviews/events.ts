import { defineEvent } from '../../kernel/events.ts'
import { Type } from '../../kernel/schema.ts'
import { Id, nullable } from '../../kernel/wire.ts'
import { REVIEW_STATUSES } from './reviews/status.ts'

/** `reviews.submitted`: a customer wrote or changed a review. */
export const reviewSubmittedEvent = defineEvent(
  'reviews.submitted',
  { description: 'A customer wrote or changed a review.', subject: 'the review', webhook: 'all' },
  {
    review_id: Id,
    product_id: Id,
    customer_id: Id,
    status: Type.Enum([...REVIEW_STATUSES], {
      description: 'Status of the review. A pending review waits for approval.'
    })
  }
)
/** `reviews.published`: a review became public. */
export const reviewPublishedEvent = defineEvent(
  'reviews.published',
  {
    description: 'A review became public.',
    subject: 'the review',
    webhook: 'all'
  },
  {
    review_id: Id,
    product_id: Id,
    customer_id: nullable({ ...Id, description: 'Null: the author deleted the account.' })
  }
)
