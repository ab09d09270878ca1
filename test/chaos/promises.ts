import type { Attempt, RunRecord, Units } from './run-record.ts'

export type OrderRow = {
  id: string
  number: string
  total: number
  note: string | null
  state: string
  units: Units
  /** Units of the customer's orders that the shop canceled. The cart got them back at any time. */
  returned: Units
}

/** Returns a sentence for each response to a buyer that the stored orders contradict. */
export function brokenPromises(
  { attempts, canceled }: Pick<RunRecord, 'attempts' | 'canceled'>,
  orders: readonly OrderRow[]
): string[] {
  const byId = new Map(orders.map(order => [order.id, order]))
  const notes = new Map(attempts.map(attempt => [attempt.note, attempt]))
  return [
    ...orders
      .filter(({ note }) => !notes.has(note ?? ''))
      .map(({ number }) => `the order ${number} was not requested`),
    ...attempts.flatMap(attempt => brokenTo(attempt, orders, byId, notes)),
    ...orders
      .filter(({ id, state }) => canceled.has(id) && state !== 'canceled')
      .map(({ number, state }) => `${number} was acknowledged as canceled, and is ${state}`),
    ...cartsBoughtTwice(orders, notes),
    ...cartsFoundEmpty(attempts, orders, notes)
  ]
}

function brokenTo(
  { note, cart, isKeyed, units, responses, isRefused }: Attempt,
  orders: readonly OrderRow[],
  byId: ReadonlyMap<string, OrderRow>,
  notes: ReadonlyMap<string, Attempt>
): string[] {
  const made = orders.filter(order => order.note === note)
  const broken: string[] = []
  if (made.length > 1) broken.push(`one request created ${made.map(({ number }) => number).join(' and ')}`)
  for (const { number, units: ordered, returned } of made)
    if (units !== undefined && !isOrdered(units, ordered, returned))
      broken.push(`${JSON.stringify(units)} were ordered, and ${number} has ${JSON.stringify(ordered)}`)
  if (new Set(responses.map(({ orderId }) => orderId)).size > 1)
    broken.push(`one key was answered with two orders: ${note}`)
  if (isKeyed && isRefused && made.length > 0 && responses.length === 0)
    broken.push(`${made[0]?.number} was rejected, and exists`)
  for (const { orderId, number, total, isNew } of responses) {
    const order = byId.get(orderId)
    if (order === undefined) {
      broken.push(`${number} was acknowledged, and does not exist`)
      continue
    }
    if (order.number !== number || order.total !== total)
      broken.push(`${number} was acknowledged with ${total}, and is ${order.number} with ${order.total}`)
    const isOurs = order.note === note
    const isOfOurCart = cart !== undefined && notes.get(order.note ?? '')?.cart === cart
    if (isNew ? !isOurs : !isOfOurCart && !isOurs)
      broken.push(`a buyer was shown ${number}, which is another buyer's`)
  }
  return broken
}

/** A cart that is ordered in two tabs becomes one order, unless that order was canceled. */
function cartsBoughtTwice(orders: readonly OrderRow[], notes: ReadonlyMap<string, Attempt>): string[] {
  const bought = new Map<string, string[]>()
  for (const { note, number, state } of orders) {
    const cart = notes.get(note ?? '')?.cart
    if (cart === undefined || state === 'canceled') continue
    bought.set(cart, [...(bought.get(cart) ?? []), number])
  }
  return [...bought.values()]
    .filter(numbers => numbers.length > 1)
    .map(numbers => `one cart became ${numbers.join(' and ')}`)
}

/** Lines of a cart stay until the cart is ordered. */
function cartsFoundEmpty(
  attempts: readonly Attempt[],
  orders: readonly OrderRow[],
  notes: ReadonlyMap<string, Attempt>
): string[] {
  const ordered = new Set(orders.map(({ note }) => notes.get(note ?? '')?.cart))
  return attempts
    .filter(({ cart, units, code }) => units !== undefined && code === 'CART_EMPTY' && !ordered.has(cart))
    .map(({ units }) => `${JSON.stringify(units)} was put into a cart, which was empty when it was ordered`)
}

/** Whether the order has the units of the cart, plus at most those that the cart got back. */
const isOrdered = (wanted: Units, ordered: Units, returned: Units): boolean =>
  Object.keys({ ...wanted, ...ordered }).every(id => {
    const more = (ordered[id] ?? 0) - (wanted[id] ?? 0)
    return more >= 0 && more <= (returned[id] ?? 0)
  })
