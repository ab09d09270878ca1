import { defineJob } from '../../../kernel/events.ts'
import { Type } from '../../../kernel/schema.ts'
import { Id } from '../../../kernel/wire.ts'

const MINUTE_SECONDS = 60
const HOUR_SECONDS = 3_600
const DAY_SECONDS = 86_400

/**
 * Enqueued by changes that affect too many products for one request, or products that other transactions may
 * change.
 */
export const repriceManyProductsJob = defineJob(
  'catalog.reprice_products',
  { description: 'Updates the lowest prices of many products.', timeoutSeconds: HOUR_SECONDS },
  /**
   * Limits the update to products in this category and below it. All products if it is omitted or deleted.
   */
  { category_id: Type.Optional(Id) }
)

export const applyDuePriceChangesJob = defineJob(
  'catalog.apply_due_prices',
  {
    description: 'Updates prices after discounts started or ended, or the currency of the shop changed.',
    timeoutSeconds: 30,
    intervalSeconds: MINUTE_SECONDS
  },
  {}
)

export const repairLowestPricesJob = defineJob(
  'catalog.check_prices',
  {
    description:
      'Compares the lowest prices of all products with their variants, slowly, and repairs wrong ones.',
    timeoutSeconds: 4 * HOUR_SECONDS,
    intervalSeconds: DAY_SECONDS
  },
  {}
)
