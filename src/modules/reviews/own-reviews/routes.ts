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
      schema: { summary: 'The caller’s review of a product', params, response: { 200: OwnReviewResponse } }
    },
    request => reviews.read(identityOf(request).userId, request.params.id)
  )

  tiers.secured.post(
    '/products/:id/reviews',
    {
      config: { ...config, limit, unversioned: true },
      schema: {
        summary: 'Review a product',
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
        summary: 'Write the caller’s review of a product anew',
        description: 'What is left out is taken away.',
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
      schema: { summary: 'Delete the caller’s review of a product', params, response: noContent }
    },
    request => reviews.remove(identityOf(request).userId, request.params.id, writeOf(request))
  )
}
