import { defineEvent } from '../../kernel/events.ts'
import { Type } from '../../kernel/schema.ts'
import { Id, nullable } from '../../kernel/wire.ts'

/** Maximum number of variants in an event; with more, `variant_ids` is null. */
export const CHANGED_VARIANTS_PER_EVENT_MAX = 1_000

/** `pricing.prices_changed`: prices of a list changed. */
export const pricesChangedEvent = defineEvent(
  'pricing.prices_changed',
  {
    description:
      'Prices of a list were set or deleted, its adjustment changed, or a market started or stopped using it. Lists that inherit from it change too.',
    subject: 'the price list',
    webhook: 'all',
    unversioned: 'The version of a price list counts changes of the list, not of its prices.'
  },
  {
    list_id: Id,
    /** The changed variants. Null: any price of the list may have changed. */
    variant_ids: nullable(Type.Array(Id))
  }
)
