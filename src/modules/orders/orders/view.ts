import {
  allowedOrderActions,
  type CustomerCancellationPolicy,
  type OrderActionName,
  type OrderLifecycleFacts
} from '../lifecycle/actions.ts'
import type { OrderLineRow } from '../lifecycle/line-columns.ts'
import { orderStatusOf } from '../lifecycle/status.ts'
import type { DeliveryGroupRow, OrderRow, OrderSummaryRow, PriceComponentRow } from './repository.ts'
import type { OrderResponse, OrderSummaryResponse } from './schema.ts'
import { summarizeOrderTaxes } from './taxes.ts'

/** An order in a list. */
export const orderSummaryView = (row: OrderSummaryRow): OrderSummaryResponse => ({
  ...row,
  status: orderStatusOf(row.state, row.payment_status, row.fulfillment_status)
})

type BuyerOrderRow = Omit<OrderRow, 'private_metadata'>

/** The fields of an order for buyers and administrators. Amounts are sums of its components. */
export function orderViewForBuyersAndAdmins<R extends BuyerOrderRow>(row: R) {
  const { lines, groups, components, history, adjustments, shipments, ...order } = row
  const ofLine = Map.groupBy(components, ({ line }) => line)
  const ofGroup = Map.groupBy(components, ({ group_key }) => group_key)
  return {
    ...order,
    status: orderStatusOf(row.state, row.payment_status, row.fulfillment_status),
    items: lines.map(line => orderItemView(line, ofLine.get(line.line) ?? [])),
    groups: groups.map(group => orderDeliveryGroupView(group, ofGroup.get(group.group_key) ?? [])),
    components: components.map(componentOf),
    tax_summary: summarizeOrderTaxes(components),
    shipments: shipments.map(({ at, voided_at, lines: units, ...shipment }) => ({
      ...shipment,
      lines: [...units],
      at: new Date(at),
      voided_at: voided_at === null ? null : new Date(voided_at)
    })),
    adjustments: adjustments.map(({ at, parts, ...adjustment }) => ({
      ...adjustment,
      at: new Date(at),
      parts: parts.map(({ line: item, group_key: group, ...part }) => ({ ...part, item, group }))
    }))
  }
}

/** Actions of administrators that buyers do not see. */
const INTERNAL: readonly string[] = [
  'hold',
  'release',
  'relabel',
  'void_event',
  'note'
] satisfies OrderActionName[]

/** The order as its buyer sees it. */
export const buyerOrderView = (
  { private_metadata: _, ...row }: OrderRow,
  policy: CustomerCancellationPolicy
): OrderResponse => ({
  ...orderViewForBuyersAndAdmins(row),
  history: row.history
    .filter(({ action }) => !INTERNAL.includes(action))
    .map(({ action, from_state: from, to_state: to, at }) => ({ action, from, to, at: new Date(at) })),
  next_actions: allowedOrderActions(
    orderLifecycleOf(row),
    row.customer_id === null ? 'guest' : 'customer',
    policy
  )
})

/** The facts that decide which actions are allowed. */
export const orderLifecycleOf = (row: BuyerOrderRow): OrderLifecycleFacts => ({
  state: row.state,
  paymentStatus: row.payment_status,
  lines: row.lines.map(({ requires_shipping: requiresShipping, ...line }) => ({ ...line, requiresShipping })),
  isCancelRequested: row.cancel_requested_by !== null,
  isHeld: row.held_at !== null,
  isErased: row.erased_at !== null
})

const sum = (components: readonly PriceComponentRow[], ...kinds: PriceComponentRow['kind'][]): number =>
  components.reduce((total, { kind, amount }) => (kinds.includes(kind) ? total + amount : total), 0)

export const orderItemView = (
  line: OrderLineRow,
  components: readonly PriceComponentRow[]
): OrderResponse['items'][number] => ({
  ...line,
  id: line.line,
  line_id: line.id,
  metadata: line.metadata ?? {},
  quantity: line.ordered,
  subtotal: sum(components, 'item'),
  discount: 0 - sum(components, 'discount'),
  line_total: sum(components, 'item', 'discount'),
  tax: sum(components, 'tax'),
  group: line.group_key
})

export const orderDeliveryGroupView = (
  { group_key: id, method, option }: DeliveryGroupRow,
  components: readonly PriceComponentRow[]
): OrderResponse['groups'][number] => ({
  id,
  method,
  shipping_option: option,
  shipping: sum(components, 'shipping', 'shipping_discount'),
  shipping_discount: 0 - sum(components, 'shipping_discount'),
  tax: sum(components, 'tax')
})

const componentOf = ({
  line: item,
  group_key: group,
  option_id: shipping_option,
  ...component
}: PriceComponentRow): OrderResponse['components'][number] => ({ ...component, item, group, shipping_option })
