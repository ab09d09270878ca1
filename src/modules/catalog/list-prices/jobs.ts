import { defineJob } from '../../../kernel/events.ts'
import { Type } from '../../../kernel/schema.ts'
import { Id } from '../../../kernel/wire.ts'

const DAY_SECONDS = 86_400

/** Asked for when a price list changes; and again and again, for what was missed while pricing was switched off. */
export const refreshListPrices = defineJob(
  'catalog.refresh_list_prices',
  {
    description: 'Brings the lowest prices of all products up to date, in price lists that markets have.',
    seconds: 600,
    everySeconds: DAY_SECONDS
  },
  /** Only in lists that rest on this one. */
  { list_id: Type.Optional(Id) }
)
