import { adminMetadataRequestFields, metadataFilterQuery } from '../../../kernel/metadata.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, input, pageQuery, request } from '../../../kernel/wire.ts'
import { ReviewStatusSchema } from '../reviews/schema.ts'
import { ReviewRejectionReasonSchema, ReviewReplySchema } from '../reviews/texts.ts'
import { ratingAndVerifiedReviewQueryFields } from '../storefront/schema.ts'

export const AdminReviewQuery = input({
  ...pageQuery,
  ...ratingAndVerifiedReviewQueryFields,
  status: Type.Optional(ReviewStatusSchema),
  product_id: Type.Optional(Id),
  customer_id: Type.Optional(Id),
  ...metadataFilterQuery
})
export type AdminReviewQuery = Static<typeof AdminReviewQuery>

export const UpdateReviewMetadataRequest = request('UpdateReviewMetadataRequest', adminMetadataRequestFields)
export const RejectReviewRequest = request('RejectReviewRequest', { reason: ReviewRejectionReasonSchema })
export const ReviewReplyRequest = request('ReviewReplyRequest', { body: ReviewReplySchema })
