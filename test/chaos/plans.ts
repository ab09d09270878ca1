import { ask, type Person } from './book.ts'
import type { Goods } from './goods.ts'
import type { Kind, Operation, Plan, Subject } from './operations.ts'

const PAYMENTS = '/api/admin/payments'
const ORDERS = '/api/admin/orders'
const LISTED = 30
const ONE_UNIT = [{ line: 1, quantity: 1 }]
const COUNTED_MIN = 100
const AGAIN_SHARE = 0.2

/** An administrator with a variant that no other one counts, so that counts and adjustments of it have one order. */
export type Administrator = Person & { goods: Goods; counted: string }
type Payment = { id: string; order_id: string; captured: number; refunded: number }
type Order = { id: string; total: number }

/**
 * In which one of three ways money of an order is given back. An order that is treated in one way only has one right sum in the
 * end, in whatever order its operations were done.
 */
export const courseOf = (orderId: string): Course =>
  COURSES[Number.parseInt(orderId.slice(-6), 16) % COURSES.length] ?? 'lines'
type Course = 'payments' | 'amounts' | 'lines'
/** Lines twice, because an order has fewer of them than parts of its price. */
const COURSES: readonly Course[] = ['payments', 'amounts', 'lines', 'lines']

/** An operation of this kind on something that it may succeed for; `undefined` when there is nothing. */
export const planOf = (kind: Kind, person: Administrator): Promise<Plan | undefined> => PLANS[kind](person)

/** Orders of which something was shipped. */
const SHIPPED = ['fulfilled', 'fulfilled', 'partial', 'partially_returned'].map(
  status => `fulfillment_status=${status}`
)

type Planner = (person: Administrator) => Promise<Plan | undefined>

const PLANS: Readonly<Record<Kind, Planner>> = {
  ship: onOrder('ship', 'shipments', ['status=paid'], ({ dice }) => ({
    body: note => ({
      ...(dice.chance(0.5) && { lines: ONE_UNIT }),
      ...{ tracking_number: note, unchecked: true }
    })
  })),
  'void shipment': async person => {
    const { operations } = person.book
    const voided = new Set(operations.map(({ about }) => about.shipment))
    const returned = new Set(operations.filter(isOfReturn).map(({ about }) => about.orderId))
    const shipments = operations.filter(
      each =>
        each.kind === 'ship' &&
        each.state === 'acknowledged' &&
        !voided.has(each) &&
        !returned.has(each.about.orderId)
    )
    if (shipments.length === 0) return undefined
    const shipment = person.dice.of(shipments.slice(-LISTED))
    const path = `${ORDERS}/${shipment.about.orderId}/shipments/${shipmentOf(shipment)?.id}/void`
    const about = { ...shipment.about, shipment }
    return planned(person, 'void shipment', about, path, note => ({ reason: note }))
  },
  return: onOrder('return', 'returns', SHIPPED, () => ({
    body: note => ({ lines: ONE_UNIT, reason: note })
  })),
  'return without restock': onOrder('return without restock', 'returns', SHIPPED, () => ({
    body: note => ({ lines: ONE_UNIT, restock: false, reason: note })
  })),
  'refund lines': onOrder('refund lines', 'refunds', SHIPPED, ({ id }) =>
    courseOf(id) === 'lines' ? { body: note => ({ lines: ONE_UNIT, reason: note }) } : undefined
  ),
  'refund amount': onOrder('refund amount', 'refunds', [...SHIPPED, 'status=paid'], ({ id, total, dice }) => {
    if (courseOf(id) !== 'amounts') return undefined
    const amount = 1 + dice.below(Math.ceil(total / 3))
    return { about: { amount }, body: note => ({ amount, reason: note }) }
  }),
  'cancel lines': onOrder('cancel lines', 'cancel', ['status=paid'], ({ id }) =>
    courseOf(id) === 'lines' ? { body: note => ({ lines: ONE_UNIT, reason: note }) } : undefined
  ),
  cancel: onOrder('cancel', 'cancel', ['status=paid', 'status=pending'], () => ({
    body: note => ({ reason: note })
  })),
  capture: onPayment('capture', 'capture', ['status=authorized', 'provider=manual&status=pending'], () => ({
    body: () => ({})
  })),
  'void payment': onPayment('void payment', 'void', ['status=requires_action', 'status=pending'], () => ({
    body: () => ({})
  })),
  'refund payment': onPayment(
    'refund payment',
    'refund',
    ['status=succeeded', 'status=partially_refunded'],
    ({ order_id, captured, refunded, dice }) => {
      const left = captured - refunded
      if (courseOf(order_id) !== 'payments' || left <= 0) return undefined
      const amount = dice.chance(0.2) ? left : 1 + dice.below(Math.ceil(left / 3))
      return { about: { amount }, body: note => ({ amount, reason: note }) }
    }
  ),
  'adjust stock': async person => {
    const { dice, goods, counted } = person
    const variantId = dice.of([goods.plenty, goods.scarce, counted, counted])
    const location = variantId === counted ? dice.of(goods.locations) : goods.locations[0]
    const isLess = variantId !== goods.scarce && dice.chance(0.5)
    const delta = (1 + dice.below(5)) * (isLess ? -1 : 1)
    const about = { variantId, location, amount: delta }
    return planned(person, 'adjust stock', about, '/api/inventory/adjustments', note => ({
      ...{ variant_id: variantId, location, delta, reason: note }
    }))
  },
  'count stock': async person => {
    const { dice, goods, counted: variantId } = person
    const location = dice.of(goods.locations)
    const amount = COUNTED_MIN + dice.below(COUNTED_MIN)
    const about = { variantId, location, amount }
    const path = `/api/inventory/levels/${variantId}`
    const body = (note: string) => ({ on_hand: amount, location, reason: note })
    return planned(person, 'count stock', about, path, body, 'PUT')
  },
  'add note': onOrder('add note', 'notes', ['status=paid', 'status=shipped'], () => ({
    body: note => ({ text: note })
  }))
}

/** The shipment that an acknowledged operation made, as its answer has it. */
export function shipmentOf({ note, answer }: Operation): Shipment | undefined {
  return answer?.shipments?.find((each: Shipment) => each.tracking_number === note)
}
type Shipment = { id: string; tracking_number: string; lines: { line: number; quantity: number }[] }

/** What was built on a shipment keeps it from being voided. */
const isOfReturn = ({ kind }: Operation): boolean => kind.startsWith('return') || kind === 'refund lines'

/** What is sent, and what beside the order or payment it is about. */
type Content = { about?: Subject; body: (note: string) => object }

function onOrder(
  kind: Kind,
  verb: string,
  queries: readonly string[],
  contentOf: (order: Order & Pick<Person, 'dice'>) => Content | undefined
): Planner {
  return async person => {
    const orders = await list<Order>(person, `${ORDERS}?${person.dice.of(queries)}`)
    const refused = refusedOf(person, kind)
    const plans = orders.flatMap(order => {
      if (refused.has(order.id) && !person.dice.chance(AGAIN_SHARE)) return []
      const content = contentOf({ ...order, dice: person.dice })
      if (content === undefined) return []
      const about = { ...content.about, orderId: order.id }
      return [planned(person, kind, about, `${ORDERS}/${order.id}/${verb}`, content.body)]
    })
    return plans.length === 0 ? undefined : person.dice.of(plans)
  }
}

/** Orders for which this kind was refused: most have nothing left that it could be done to. */
const refusedOf = ({ book }: Person, kind: Kind): Set<string | undefined> =>
  new Set(
    book.operations
      .filter(each => each.kind === kind && each.state === 'refused')
      .map(({ about }) => about.orderId)
  )

function onPayment(
  kind: Kind,
  verb: string,
  queries: readonly string[],
  contentOf: (payment: Payment & Pick<Person, 'dice'>) => Content | undefined
): Planner {
  return async person => {
    const payments = await list<Payment>(person, `${PAYMENTS}?${person.dice.of(queries)}`)
    const plans = payments.flatMap(payment => {
      const content = contentOf({ ...payment, dice: person.dice })
      if (content === undefined) return []
      const about = { ...content.about, paymentId: payment.id, orderId: payment.order_id }
      return [planned(person, kind, about, `${PAYMENTS}/${payment.id}/${verb}`, content.body)]
    })
    return plans.length === 0 ? undefined : person.dice.of(plans)
  }
}

const planned = (
  { goods }: Administrator,
  kind: Kind,
  about: Subject,
  path: string,
  body: (note: string) => object,
  method = 'POST'
): Plan => ({
  ...{ kind, about },
  request: note => ({ method, path, token: goods.admin, body: body(note) })
})

async function list<T>(person: Administrator, path: string): Promise<T[]> {
  const answer = await ask(person, {
    method: 'GET',
    path: `${path}&limit=${LISTED}`,
    token: person.goods.admin
  })
  return answer?.status === 200 ? answer.json.items : []
}
