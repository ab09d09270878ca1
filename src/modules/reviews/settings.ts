import { Type } from '../../kernel/schema.ts'
import { integerSetting, settingsSection } from '../../kernel/settings.ts'

export const reviewsSettings = settingsSection('Product reviews.', {
  allowed_authors: Type.Enum(['customers', 'buyers'], {
    description:
      'Which customers can review a product. `customers`: all customers; `buyers`: customers who bought it.',
    default: 'customers'
  }),
  moderation: Type.Enum(['none', 'before'], {
    description:
      'Whether an administrator must approve a review before it is public. With `none`, an administrator can still reject it later.',
    default: 'none'
  }),
  writes_per_minute: integerSetting('Reviews written or changed per minute and customer.', 10)
})
