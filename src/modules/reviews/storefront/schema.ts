import { type Static, Type } from '../../../kernel/schema.ts'
import { input, line, nullable, pageQuery, response } from '../../../kernel/wire.ts'
import { Stars } from '../reviews/texts.ts'

export const ProductParams = input({ id: line(255, 'Id or slug of the product.') })

export const reviewFilters = {
  rating: Type.Optional(Stars),
  verified: Type.Optional(Type.Boolean({ description: 'Whether the author has bought the product.' }))
}
export const ReviewQuery = input({
  ...pageQuery,
  ...reviewFilters,
  sort: Type.Optional(
    Type.Enum(['newest', 'oldest', 'highest', 'lowest'], {
      description: 'By when they were written, or by their stars.',
      default: 'newest'
    })
  )
})
export type ReviewQuery = Static<typeof ReviewQuery>
export type Sort = NonNullable<ReviewQuery['sort']>

const Times = Type.Integer({ description: 'How many reviews give so many stars.' })
export const RatingResponse = response('RatingResponse', {
  average: nullable(
    Type.Number({ description: 'To two decimals, 0.005 rounded up; null while there is no review.' })
  ),
  count: Type.Integer(),
  histogram: Type.Object({ '1': Times, '2': Times, '3': Times, '4': Times, '5': Times })
})
export type RatingResponse = Static<typeof RatingResponse>
