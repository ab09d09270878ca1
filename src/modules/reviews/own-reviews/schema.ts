import type { Static } from '../../../kernel/schema.ts'
import { request } from '../../../kernel/wire.ts'
import { authorReviewRequestFields } from '../reviews/texts.ts'

export const ReviewRequest = request('ReviewRequest', authorReviewRequestFields)
export type ReviewRequest = Static<typeof ReviewRequest>
