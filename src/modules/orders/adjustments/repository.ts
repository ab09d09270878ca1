import { json, oneOf, statement } from '../../../platform/postgres/statement.ts'
import type { OrderCreditPart } from './credits.ts'
import type { OrderPricePart } from './shares.ts'

export type OrderAdjustmentCause = 'cancel' | 'refund'

/** Lists the price components of an order: each of a line, of the delivery of a group, or of neither (cash rounding). */
export const listOrderPriceParts = statement({
  name: 'orders.list_price_parts',
  takes: { order_id: 'uuid' },
  gives: {
    kind: oneOf<OrderPricePart['kind']>(),
    line: 'int4?',
    group_key: 'text?',
    amount: 'int8',
    rate_ppm: 'int4?',
    tax_category: 'text?',
    included: 'bool'
  },
  text: `
    select kind, line, group_key, amount, rate_ppm, tax_category, included
    from orders.components where order_id = $order_id order by position`
})
/** Lists the amounts that earlier adjustments of the order credited. */
export const listCreditedOrderPriceParts = statement({
  name: 'orders.list_credited',
  takes: { order_id: 'uuid' },
  gives: { line: 'int4?', group_key: 'text?', amount: 'int8' },
  text: `
    select parts.line, parts.group_key, parts.amount
    from orders.adjustments join orders.adjustment_parts parts on parts.adjustment_id = adjustments.id
    where adjustments.order_id = $order_id`
})
/** Inserts nothing if an adjustment with this id exists. */
export const insertOrderAdjustment = statement({
  name: 'orders.insert_adjustment',
  takes: {
    id: 'uuid',
    order_id: 'uuid',
    kind: oneOf<OrderAdjustmentCause>(),
    amount: 'int8',
    back: 'int8',
    reason: 'text?',
    actor: 'uuid?'
  },
  text: `
    insert into orders.adjustments (id, order_id, kind, amount, back, reason, actor)
    values ($id, $order_id, $kind, $amount, $back, $reason, $actor) on conflict (id) do nothing`
})
export const insertOrderAdjustmentParts = statement({
  name: 'orders.insert_adjustment_parts',
  takes: { id: 'uuid', parts: json<readonly OrderCreditPart[]>() },
  text: `
    insert into orders.adjustment_parts (adjustment_id, position, line, group_key, units, amount, tax, rate_ppm, tax_category)
    select $id, row_number() over (), line, "group", units, "amountMinor", "taxMinor", "ratePpm", "taxCategory"
    from jsonb_to_recordset($parts) as parts (line int, "group" text, units int, "amountMinor" bigint, "taxMinor" bigint,
      "ratePpm" int, "taxCategory" text)`
})
/** Sums what was credited and what was refunded by adjustments, and whether the adjustment with this id exists. */
export const sumOrderAdjustments = statement({
  name: 'orders.sum_adjustments',
  takes: { order_id: 'uuid', id: 'uuid' },
  gives: { credited: 'int8', refunded: 'int8', exists: 'bool' },
  text: `
    select coalesce(sum(amount), 0)::int8 as credited, coalesce(sum(back), 0)::int8 as refunded,
      coalesce(bool_or(id = $id), false) as exists
    from orders.adjustments where order_id = $order_id`
})
