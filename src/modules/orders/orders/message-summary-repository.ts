import type { Metadata } from '../../../kernel/metadata.ts'
import { json, nullableOneOf, oneOf, type RowOf, statement } from '../../../platform/postgres/statement.ts'
import type { OrderLineQuantity } from '../lifecycle/counters.ts'
import type { OrderLineRow } from '../lifecycle/line-columns.ts'
import type { FulfillmentStatus, OrderLifecycleState, OrderPaymentStatus } from '../lifecycle/status.ts'
import type { PaymentTerms } from '../lifecycle/terms.ts'
import { type OrderTenderRow, orderTendersSql } from './repository.ts'

type Line = Pick<OrderLineRow, 'line' | 'sku' | 'name' | 'variant_name'> & {
  metadata: Metadata
  /** Ordered units of a line that are not canceled. */
  quantity: number
  /** The discounted price of all ordered units of a line. */
  total: number
}
/** A shipment that was not voided. */
type Shipment = {
  id: string
  carrier: string | null
  tracking_number: string | null
  lines: readonly OrderLineQuantity[]
}

/**
 * The content of messages about an order. `due`: what the buyer of an unpaid order pays besides its tenders, after credits;
 * otherwise 0.
 */
export const listOrderMessageSummaries = statement({
  name: 'orders.list_summaries',
  takes: { ids: 'uuid[]' },
  gives: {
    id: 'uuid',
    number: 'text',
    customer_id: 'uuid?',
    email: 'text?',
    name: 'text?',
    market: 'text',
    currency: 'text',
    state: oneOf<OrderLifecycleState>(),
    terms: oneOf<PaymentTerms>(),
    payment_status: nullableOneOf<OrderPaymentStatus>(),
    fulfillment_status: oneOf<FulfillmentStatus>(),
    placed_at: 'timestamptz?',
    canceled_for: nullableOneOf<'evicted' | 'short'>(),
    subtotal: 'int8',
    discount_total: 'int8',
    shipping_total: 'int8',
    tax_added: 'int8',
    tax_total: 'int8',
    total: 'int8',
    token_version: 'int4',
    metadata: json<Metadata>(),
    due: 'int8',
    tenders: json<OrderTenderRow[]>(),
    lines: json<Line[]>(),
    shipments: json<Shipment[]>()
  },
  text: `
    select o.id, number, customer_id, email, coalesce(shipping_address->>'name', billing_address->>'name') as name,
      market, currency, state, terms, payment_status, fulfillment_status, placed_at, canceled_for, subtotal, discount_total,
      shipping_total, tax_added, tax_total, total, token_version, metadata,
      case when coalesce(payment_status, 'unpaid') = 'unpaid' then total - tendered - (
        select coalesce(sum(a.amount - a.back), 0)::int8 from orders.adjustments a where a.order_id = o.id) else 0 end as due,
      ${orderTendersSql} as tenders,
      (select coalesce(jsonb_agg(jsonb_build_object(
          'line', l.line, 'sku', l.sku, 'name', l.name, 'variant_name', l.variant_name,
          'metadata', coalesce(l.metadata, '{}'), 'quantity', l.ordered - l.canceled, 'total', (
            select coalesce(sum(c.amount), 0) from orders.components c
            where c.order_id = l.order_id and c.line = l.line and c.kind in ('item', 'discount')
          )) order by l.line), '[]')
        from orders.lines l where l.order_id = o.id) as lines,
      (select coalesce(jsonb_agg(jsonb_build_object(
          'id', s.id, 'carrier', s.carrier, 'tracking_number', s.tracking_number, 'lines', s.lines) order by s.at, s.id), '[]')
        from orders.shipments s where s.order_id = o.id and s.voided_at is null) as shipments
    from orders.orders o where o.id = any ($ids)`
})
export type SummarizedOrderRow = RowOf<typeof listOrderMessageSummaries>
