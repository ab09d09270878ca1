import { Type } from '../../../kernel/schema.ts'
import { nullable, response } from '../../../kernel/wire.ts'

export const ProductRatingResponse = response('ProductRatingResponse', {
  average: nullable(Type.Number({ description: 'Average stars, with two decimals. Null: no review yet.' })),
  count: Type.Integer()
})
