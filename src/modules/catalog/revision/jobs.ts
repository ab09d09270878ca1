import { defineJob } from '../../../kernel/events.ts'
import { Type } from '../../../kernel/schema.ts'
import { Id } from '../../../kernel/wire.ts'

const MINUTE_SECONDS = 60
const HOUR_SECONDS = 3_600
const DAY_SECONDS = 86_400

/** Enqueued by changes that concern more products than a request can wait for, or products that others may be changing. */
export const repriceProducts = defineJob(
  'catalog.reprice_products',
  { description: 'Brings the lowest prices of many products up to date.', seconds: HOUR_SECONDS },
  /** Only products in this category and below it; all products when it is left out or deleted. */
  { category_id: Type.Optional(Id) }
)

export const applyDuePrices = defineJob(
  'catalog.apply_due_prices',
  {
    description: 'Applies discounts that have started or ended, and a changed currency of the shop.',
    seconds: 30,
    everySeconds: MINUTE_SECONDS
  },
  {}
)

export const checkPrices = defineJob(
  'catalog.check_prices',
  {
    description: 'Compares the lowest prices of all products with their variants, a few at a time.',
    seconds: 4 * HOUR_SECONDS,
    everySeconds: DAY_SECONDS
  },
  {}
)
