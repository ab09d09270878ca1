import { type Static, Type } from '../../../kernel/schema.ts'
import { input, line, nullable, pageQuery, response } from '../../../kernel/wire.ts'
import { ReviewStarsSchema } from '../reviews/texts.ts'

export const ReviewedProductParams = input({ id: line(255, 'Id or slug of the product.') })

export const ratingAndVerifiedReviewQueryFields = {
  rating: Type.Optional(ReviewStarsSchema),
  verified: Type.Optional(Type.Boolean({ description: 'Whether the author bought the product.' }))
}
export const PublicReviewQuery = input({
  ...pageQuery,
  ...ratingAndVerifiedReviewQueryFields,
  sort: Type.Optional(
    Type.Enum(['newest', 'oldest', 'highest', 'lowest'], {
      description: '`newest` and `oldest` sort by time, `highest` and `lowest` by stars.',
      default: 'newest'
    })
  )
})
export type PublicReviewQuery = Static<typeof PublicReviewQuery>
export type ReviewSort = NonNullable<PublicReviewQuery['sort']>

const StarCount = Type.Integer({ description: 'Number of reviews with this many stars.' })
export const RatingResponse = response('RatingResponse', {
  average: nullable(
    Type.Number({ description: 'Average stars with two decimals, rounded half up. Null: no review yet.' })
  ),
  count: Type.Integer(),
  histogram: Type.Object({ '1': StarCount, '2': StarCount, '3': StarCount, '4': StarCount, '5': StarCount })
})
export type RatingResponse = Static<typeof RatingResponse>
