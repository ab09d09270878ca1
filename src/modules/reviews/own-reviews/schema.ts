import type { Static } from '../../../kernel/schema.ts'
import { request } from '../../../kernel/wire.ts'
import { authorReviewFields } from '../reviews/texts.ts'

export const ReviewRequest = request('ReviewRequest', authorReviewFields)
export type ReviewRequest = Static<typeof ReviewRequest>
