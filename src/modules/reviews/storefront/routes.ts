import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { listOf } from '../../../kernel/wire.ts'
import { ReviewResponse } from '../reviews/schema.ts'
import { ProductParams, RatingResponse, ReviewQuery } from './schema.ts'
import type { ReviewStorefront } from './service.ts'

const config = { class: 'browse', cache: 'public' } as const

export function reviewStorefrontRoutes(tiers: Tiers, storefront: ReviewStorefront): void {
  tiers.public.get(
    '/products/:id/reviews',
    {
      config,
      schema: {
        summary: 'Reviews of a product',
        params: ProductParams,
        querystring: ReviewQuery,
        response: { 200: listOf(ReviewResponse) }
      }
    },
    request => storefront.list(request.params.id, request.query)
  )

  tiers.public.get(
    '/products/:id/reviews/rating',
    {
      config,
      schema: { summary: 'What a product is rated', params: ProductParams, response: { 200: RatingResponse } }
    },
    request => storefront.rating(request.params.id)
  )
}
