import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { input, line, noContent } from '../../../kernel/wire.ts'
import { OwnReviewResponse } from '../reviews/schema.ts'
import { ReviewRequest } from './schema.ts'
import type { OwnReviewService } from './service.ts'

const params = input({ id: line(255, 'Id or slug of the product.') })

export function ownReviewRoutes(
  tiers: Tiers,
  reviews: OwnReviewService,
  limits: { writesPerMinute: number }
): void {
  const config = { class: 'account' } as const
  const limit = { name: 'reviews', perMinute: limits.writesPerMinute }

  tiers.secured.get(
    '/products/:id/reviews/mine',
    {
      config,
      schema: {
        summary: "Retrieve the customer's own review",
        description:
          'Returns the review of the product that the calling customer wrote, in any status. 404 `REVIEW_NOT_FOUND`: the customer has not reviewed the product. 404 `CATALOG_PRODUCT_NOT_FOUND`: the product does not exist or is not active.',
        params,
        response: { 200: OwnReviewResponse }
      }
    },
    request => reviews.read(identityOf(request).userId, request.params.id)
  )

  tiers.secured.post(
    '/products/:id/reviews',
    {
      config: { ...config, limit, unversioned: true },
      schema: {
        summary: 'Create a review',
        description:
          'Creates the review of a product by the calling customer. It is published immediately, or is pending until an administrator approves it. 403 `REVIEW_PURCHASE_NEEDED`: in this shop only customers who bought the product can review it. 404 `CATALOG_PRODUCT_NOT_FOUND`: the product does not exist or is not active. 409 `REVIEW_EXISTS`: the customer has a review of this product; replace it.',
        params,
        body: ReviewRequest,
        response: { 201: OwnReviewResponse }
      }
    },
    request => reviews.create(identityOf(request).userId, request.params.id, request.body, writeOf(request))
  )

  tiers.secured.put(
    '/products/:id/reviews',
    {
      config: { ...config, limit },
      schema: {
        summary: "Replace the customer's own review",
        description:
          'Replaces the review that the calling customer wrote; omitted fields are removed. A review that was rejected or is pending waits for approval. 404 `REVIEW_NOT_FOUND`: the customer has not reviewed the product; create a review. 412 `REVIEW_STALE`: it has changed since; read it again.',
        params,
        body: ReviewRequest,
        response: { 200: OwnReviewResponse }
      }
    },
    request => reviews.replace(identityOf(request).userId, request.params.id, request.body, writeOf(request))
  )

  tiers.secured.delete(
    '/products/:id/reviews',
    {
      config,
      schema: {
        summary: "Delete the customer's own review",
        description:
          'Deletes the review that the calling customer wrote. 404 `REVIEW_NOT_FOUND`: the customer has not reviewed the product. 412 `REVIEW_STALE`: it has changed since; read it again.',
        params,
        response: noContent
      }
    },
    request => reviews.remove(identityOf(request).userId, request.params.id, writeOf(request))
  )
}
