import type { Metadata } from '../../../kernel/metadata.ts'
import { json, nullableJson, type StatementResultRow } from '../../../platform/postgres/statement.ts'

/** The columns of a new line, with the data of its product at the time of the order. Prices are in minor units. */
export const newOrderLineColumns = {
  line: 'int4',
  /** The id of the line in the cart or checkout. It is unique within the order. */
  id: 'uuid',
  group_key: 'text',
  variant_id: 'uuid',
  product_id: 'uuid',
  sku: 'text',
  name: 'text',
  variant_name: 'text',
  slug: 'text',
  image_url: 'text?',
  attributes: json<Readonly<Record<string, string>>>(),
  requires_shipping: 'bool',
  weight_grams: 'int4',
  unit_price: 'int8',
  discounted_price: 'int8',
  ordered: 'int4',
  /** Null: none. */
  metadata: nullableJson<Metadata>()
} as const
export type NewOrderLineRow = StatementResultRow<typeof newOrderLineColumns>

const counters = { canceled: 'int4', fulfilled: 'int4', returned: 'int4', refunded: 'int4' } as const
export type OrderLineRow = NewOrderLineRow & StatementResultRow<typeof counters>

const { line, group_key, variant_id, requires_shipping, metadata, ordered } = newOrderLineColumns
/** The columns by which a locked order decides what may happen to its lines. */
export const lockedOrderLineColumns = {
  line,
  group_key,
  variant_id,
  requires_shipping,
  metadata,
  ordered,
  ...counters
} as const
