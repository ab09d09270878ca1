import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, input, pageQuery, request } from '../../../kernel/wire.ts'
import { StatusName } from '../reviews/schema.ts'
import { Reason, Reply } from '../reviews/texts.ts'
import { reviewFilters } from '../storefront/schema.ts'

export const AdminReviewQuery = input({
  ...pageQuery,
  ...reviewFilters,
  status: Type.Optional(StatusName),
  product_id: Type.Optional(Id),
  customer_id: Type.Optional(Id)
})
export type AdminReviewQuery = Static<typeof AdminReviewQuery>

export const RejectReviewRequest = request('RejectReviewRequest', { reason: Reason })
export const ReviewReplyRequest = request('ReviewReplyRequest', { body: Reply })
