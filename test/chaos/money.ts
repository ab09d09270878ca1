import { multiplyFractionRounded } from '../../src/kernel/money.ts'
import type { Operation } from './operations.ts'
import { refundModeOf } from './plans.ts'

/** The price of an order, and its amounts at the providers, in minor units. */
export type OrderMoney = {
  id: string
  number: string
  isCanceled: boolean
  total: number
  /** Price of each line, with its share of all discounts and taxes. */
  lines: readonly { line: number; quantity: number; payable: number }[]
  taken: number
  /** Refunds that the providers executed, including those that failed later. */
  given: number
  /** Requested refunds that the providers rejected. */
  refused: number
  /** What tenders covered, and what they got back. */
  tendered: number
  returned: number
  /** Whether a refund failed later, so its amount came back to the shop. */
  isKeptBack: boolean
}

/** Returns a sentence for each order whose refunds are not those of the acknowledged operations. */
export function brokenRefunds(operations: readonly Operation[], orders: readonly OrderMoney[]): string[] {
  const byOrder = Map.groupBy(
    operations.filter(({ state }) => state === 'acknowledged'),
    ({ about }) => about.orderId
  )
  return orders.flatMap(order => {
    const given = order.given + order.refused
    const expected = expectedOf(order, byOrder.get(order.id) ?? [])
    if (expected === undefined) return []
    const about = `order ${order.number} (${refundModeOf(order.id)})`
    return [
      ...(expected.given === given
        ? []
        : [`${about}: ${given} was refunded, and ${expected.given} was acknowledged`]),
      ...(expected.returned === order.returned
        ? []
        : [`${about}: ${order.returned} was returned to tenders, and ${expected.returned} was acknowledged`])
    ]
  })
}

/** Returns undefined when the operations alone do not determine the amount. */
function expectedOf(
  order: OrderMoney,
  operations: readonly Operation[]
): Pick<OrderMoney, 'given' | 'returned'> | undefined {
  const { taken, tendered, refused, isKeptBack } = order
  // A refund of a canceled order that fails later may be refunded again.
  if (order.isCanceled) return isKeptBack ? undefined : { given: taken + refused, returned: tendered }
  // A refund that a provider rejected or lost goes to the payment again, before the tenders.
  if (tendered > 0 && (isKeptBack || refused > 0)) return undefined
  const amounts = (kind: Operation['kind']) =>
    operations.filter(each => each.kind === kind).reduce((sum, { about }) => sum + (about.amount ?? 0), 0)
  if (refundModeOf(order.id) === 'payments') return { given: amounts('refund payment'), returned: 0 }
  const credited =
    refundModeOf(order.id) === 'amounts' ? amounts('refund amount') : creditOf(order, operations)
  const tooMuch = taken + tendered - (order.total - credited)
  const refunded = Math.max(0, Math.min(credited, tooMuch))
  // Payments get their money back before the tenders.
  const given = tendered === 0 ? refunded : Math.min(refunded, taken)
  return { given, returned: refunded - given }
}

/** What the units cost that were canceled or paid back: with the last ones goes whatever the lines do not bear. */
function creditOf({ total, lines }: OrderMoney, operations: readonly Operation[]): number {
  const units = new Map<number, number>()
  for (const { kind, request } of operations) {
    if (kind !== 'cancel lines' && kind !== 'refund lines') continue
    const { lines: wanted } = request.body as { lines: { line: number; quantity: number }[] }
    for (const { line, quantity } of wanted) units.set(line, (units.get(line) ?? 0) + quantity)
  }
  const unitsOf = (line: number) => units.get(line) ?? 0
  if (lines.every(({ line, quantity }) => unitsOf(line) === quantity)) return total
  return lines.reduce(
    (sum, { line, quantity, payable }) => sum + multiplyFractionRounded(payable, unitsOf(line), quantity),
    0
  )
}
