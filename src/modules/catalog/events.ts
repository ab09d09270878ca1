import { defineEvent } from '../../kernel/events.ts'
import { LOWEST_ID } from '../../kernel/ids.ts'
import { Id } from '../../kernel/wire.ts'

/** `catalog.product_changed`: a product, or a variant or price of it, was created, changed or deleted. */
export const productChangedEvent = defineEvent(
  'catalog.product_changed',
  {
    description:
      'A product, or a variant or price of it, was created, changed or deleted. Emitted once per transaction.',
    subject: 'the product',
    webhook: 'latest'
  },
  { product_id: Id }
)

/** The only subject of `catalog.changed`, so that these events are handled in their order. */
export const CATALOG_CHANGED_EVENT_SUBJECT = LOWEST_ID
/** `catalog.changed`: a change of a category, or another that can affect any product, such as a discount on a category. */
export const catalogChangedEvent = defineEvent(
  'catalog.changed',
  {
    description:
      'A category was created, changed or deleted, or another change can affect any product: a discount on a category, a discount that has started or ended, prices of a price list. It replaces an event per product.',
    subject: 'the catalog, always the same',
    webhook: 'latest',
    unversioned: 'The catalog has no version.'
  },
  {}
)
