import { defineJob } from '../../../kernel/events.ts'
import { Type } from '../../../kernel/schema.ts'
import { Id } from '../../../kernel/wire.ts'

const DAY_SECONDS = 86_400

/** Enqueued when a price list changes, and daily, because changes are missed while pricing is disabled. */
export const refreshLowestListPricesJob = defineJob(
  'catalog.refresh_list_prices',
  {
    description: 'Updates the lowest prices of all products in the price lists of markets.',
    timeoutSeconds: 600,
    intervalSeconds: DAY_SECONDS
  },
  /** Limits the update to this list and lists that inherit from it. */
  { list_id: Type.Optional(Id) }
)
