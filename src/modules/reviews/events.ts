import { defineEvent } from '../../kernel/events.ts'
import { Type } from '../../kernel/schema.ts'
import { Id, nullable } from '../../kernel/wire.ts'
import { STATUSES } from './reviews/status.ts'

/** `reviews.submitted`: a customer has written a review, or changed one. */
export const reviewSubmitted = defineEvent(
  'reviews.submitted',
  { description: 'A customer has written a review, or changed one.', subject: 'the review', outside: 'each' },
  {
    ...{ review_id: Id, product_id: Id, customer_id: Id },
    status: Type.Enum([...STATUSES], {
      description: 'What it is from now on; a pending one waits to be decided.'
    })
  }
)
/** `reviews.published`: everybody can read a review. */
export const reviewPublished = defineEvent(
  'reviews.published',
  {
    description: 'Everybody can read a review, which nobody could before.',
    subject: 'the review',
    outside: 'each'
  },
  {
    ...{ review_id: Id, product_id: Id },
    customer_id: nullable({ ...Id, description: 'Null: whoever wrote it has left.' })
  }
)
