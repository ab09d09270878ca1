import { multiplyFractionRounded } from '../../src/kernel/money.ts'
import type { Operation } from './operations.ts'
import { courseOf } from './plans.ts'

/** What an order cost, and what became of its money at its providers. Amounts in minor units. */
export type OrderMoney = {
  id: string
  number: string
  isCanceled: boolean
  total: number
  /** What each line costs with its share of all discounts and taxes. */
  lines: readonly { line: number; quantity: number; payable: number }[]
  taken: number
  /** What the providers were made to give back, even if it did not arrive. */
  given: number
  /** Of what was requested, what they refused to give back. */
  refused: number
  /** Some of what was given back came back to the shop. */
  isKeptBack: boolean
}

/** Where the money that was given back is not that of the acknowledged operations, as sentences. */
export function brokenRefunds(operations: readonly Operation[], orders: readonly OrderMoney[]): string[] {
  const byOrder = Map.groupBy(
    operations.filter(({ state }) => state === 'acknowledged'),
    ({ about }) => about.orderId
  )
  return orders.flatMap(order => {
    const given = order.given + order.refused
    const expected = expectedOf(order, byOrder.get(order.id) ?? [])
    if (expected === undefined || expected === given) return []
    return [`of ${order.number} (${courseOf(order.id)}) ${given} went back, and ${expected} was acknowledged`]
  })
}

/** `undefined`: nothing follows from the operations alone. */
function expectedOf(order: OrderMoney, operations: readonly Operation[]): number | undefined {
  // What comes back of an order that is canceled may be given back again.
  if (order.isCanceled) return order.isKeptBack ? undefined : order.taken + order.refused
  const amounts = (kind: Operation['kind']) =>
    operations.filter(each => each.kind === kind).reduce((sum, { about }) => sum + (about.amount ?? 0), 0)
  if (courseOf(order.id) === 'payments') return amounts('refund payment')
  const credited = courseOf(order.id) === 'amounts' ? amounts('refund amount') : creditOf(order, operations)
  const tooMuch = order.taken - (order.total - credited)
  return Math.max(0, Math.min(credited, tooMuch))
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
