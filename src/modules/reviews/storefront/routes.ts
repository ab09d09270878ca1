import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { listOf } from '../../../kernel/wire.ts'
import { ReviewResponse } from '../reviews/schema.ts'
import { PublicReviewQuery, RatingResponse, ReviewedProductParams } from './schema.ts'
import type { ReviewStorefront } from './service.ts'

const config = { class: 'browse', cache: 'public' } as const

export function reviewStorefrontRoutes(tiers: Tiers, storefront: ReviewStorefront): void {
  tiers.public.get(
    '/products/:id/reviews',
    {
      config,
      schema: {
        summary: 'List reviews of a product',
        description:
          'Returns a page of the published reviews of a product, by id or slug of the product. Needs no token. 404 `CATALOG_PRODUCT_NOT_FOUND`: the product does not exist or is not active. 400 `INVALID_CURSOR`: the cursor belongs to another query; start at the first page.',
        params: ReviewedProductParams,
        querystring: PublicReviewQuery,
        response: { 200: listOf(ReviewResponse) }
      }
    },
    request => storefront.list(request.params.id, request.query)
  )

  tiers.public.get(
    '/products/:id/reviews/rating',
    {
      config,
      schema: {
        summary: "Retrieve a product's rating",
        description:
          'Returns the average stars of a product and how many published reviews gave each number of stars. Needs no token. 404 `CATALOG_PRODUCT_NOT_FOUND`: the product does not exist or is not active.',
        params: ReviewedProductParams,
        response: { 200: RatingResponse }
      }
    },
    request => storefront.rating(request.params.id)
  )
}
