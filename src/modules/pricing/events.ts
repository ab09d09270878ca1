import { defineEvent } from '../../kernel/events.ts'
import { Type } from '../../kernel/schema.ts'
import { Id, nullable } from '../../kernel/wire.ts'

/** So many variants an event names; when there are more, it says that all may be others. */
export const CHANGED_VARIANTS_MAX = 1_000

/** `pricing.prices_changed`: prices of a list are others. */
export const pricesChanged = defineEvent(
  'pricing.prices_changed',
  {
    description:
      'Prices of a list were set or deleted, or the whole list is another: what it adds to its parent, or whether a market has it. Lists below it have other prices, too.',
    subject: 'the price list',
    outside: 'each'
  },
  {
    list_id: Id,
    /** Null: any variant may have another price. */
    variant_ids: nullable(Type.Array(Id))
  }
)
