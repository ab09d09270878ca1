import { Type } from '../../kernel/schema.ts'
import { count, section } from '../../kernel/settings.ts'

export const reviewsSettings = section('Reviews of products.', {
  who: Type.Enum(['anyone', 'buyers'], {
    description: 'Which customers may review a product: any, or those who have bought it.',
    default: 'anyone'
  }),
  moderation: Type.Enum(['none', 'before'], {
    description:
      'Whether an administrator decides before others see what is written; without that, they can take it back.',
    default: 'none'
  }),
  writes_per_minute: count('Reviews written or changed, by customer.', 10)
})
