import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import { reviewPublishedEvent } from '../events.ts'
import type { ProductRatingService } from '../ratings/service.ts'
import type { ReviewStatus } from './status.ts'

type ReviewIds = { readonly id: string; readonly product_id: string; readonly customer_id: string | null }
type ReviewState = { readonly status: ReviewStatus; readonly rating: number }
type ChangedReview = ReviewState & { readonly version: number }
type Deps = { ratings: Pick<ProductRatingService, 'updateCounts'>; emit: Emit }

const starsOf = (state: ReviewState | null) => (state?.status === 'published' ? state.rating : null)

/**
 * Creates the function that each transaction calls after it changed a review. It updates the rating and emits
 * `reviews.published`. `before` and `after`: the review before and after the change, null when it did or does
 * not exist.
 */
export function createReviewChangePublisher({ ratings, emit }: Deps) {
  return (
    tx: Transaction,
    { id, product_id, customer_id }: ReviewIds,
    before: ReviewState | null,
    after: ChangedReview | null
  ) => {
    ratings.updateCounts(tx, product_id, starsOf(before), starsOf(after))
    if (after?.status === 'published' && before?.status !== 'published')
      emit(
        tx,
        reviewPublishedEvent,
        { id, version: after.version },
        { review_id: id, product_id, customer_id }
      )
  }
}
export type PublishReviewChange = ReturnType<typeof createReviewChangePublisher>
