import { defineEvent } from '../../kernel/events.ts'
import { FIRST_ID } from '../../kernel/ids.ts'
import { Id } from '../../kernel/wire.ts'

/** `catalog.product_changed`: a product or something of it was changed. */
export const productChanged = defineEvent(
  'catalog.product_changed',
  {
    description: 'A product, one of its variants or prices was made, changed or deleted; once a transaction.',
    subject: 'the product',
    outside: 'latest'
  },
  { product_id: Id }
)

/** Its only subject: changes of everything come one after the other. */
export const EVERYTHING = FIRST_ID
/** `catalog.changed`: something was changed that may concern any product. */
export const catalogChanged = defineEvent(
  'catalog.changed',
  {
    description:
      'Something that may concern any product was changed, such as a discount; instead of the event of each.',
    subject: 'the catalog, always the same',
    outside: 'latest'
  },
  {}
)
