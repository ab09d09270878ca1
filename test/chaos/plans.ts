import type { ShopGoods } from './goods.ts'
import type { Operation, OperationKind, OperationPlan, OperationSubject } from './operations.ts'
import { type ChaosClient, sendOnce } from './run-record.ts'

const PAYMENTS = '/api/admin/payments'
const ORDERS = '/api/admin/orders'
const LISTED = 30
const ONE_UNIT = [{ line: 1, quantity: 1 }]
const COUNTED_MIN = 100
const AGAIN_SHARE = 0.2

/** An administrator with a variant that no other one counts, so that counts and adjustments of it have one order. */
export type Administrator = ChaosClient & { goods: ShopGoods; counted: string }
type Payment = { id: string; order_id: string; captured: number; refunded: number }
type Order = { id: string; total: number }

/**
 * How the money of an order is refunded: by payment, amount or line. With a single way the expected sum does not depend on
 * the order of the operations.
 */
export const refundModeOf = (orderId: string): RefundMode =>
  REFUND_MODES[Number.parseInt(orderId.slice(-6), 16) % REFUND_MODES.length] ?? 'lines'
type RefundMode = 'payments' | 'amounts' | 'lines'
/** `lines` occurs twice, because an order has fewer lines than possible amounts. */
const REFUND_MODES: readonly RefundMode[] = ['payments', 'amounts', 'lines', 'lines']

/** Returns an operation of this kind that may succeed, or undefined when there is none. */
export const planOperation = (
  kind: OperationKind,
  client: Administrator
): Promise<OperationPlan | undefined> => PLANS[kind](client)

/** Queries for orders with shipped units. */
const SHIPPED = ['fulfilled', 'fulfilled', 'partial', 'partially_returned'].map(
  status => `fulfillment_status=${status}`
)

type Planner = (client: Administrator) => Promise<OperationPlan | undefined>

const PLANS: Readonly<Record<OperationKind, Planner>> = {
  ship: onOrder('ship', 'shipments', ['status=paid'], ({ dice }) => ({
    body: note => ({
      ...(dice.chance(0.5) && { lines: ONE_UNIT }),
      tracking_number: note,
      unchecked: true
    })
  })),
  'void shipment': async client => {
    const { operations } = client.record
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
    const shipment = client.dice.of(shipments.slice(-LISTED))
    const path = `${ORDERS}/${shipment.about.orderId}/shipments/${shipmentOf(shipment)?.id}/void`
    const about = { ...shipment.about, shipment }
    return planned(client, 'void shipment', about, path, note => ({ reason: note }))
  },
  return: onOrder('return', 'returns', SHIPPED, () => ({
    body: note => ({ lines: ONE_UNIT, reason: note })
  })),
  'return without restock': onOrder('return without restock', 'returns', SHIPPED, () => ({
    body: note => ({ lines: ONE_UNIT, restock: false, reason: note })
  })),
  'refund lines': onOrder('refund lines', 'refunds', SHIPPED, ({ id }) =>
    refundModeOf(id) === 'lines' ? { body: note => ({ lines: ONE_UNIT, reason: note }) } : undefined
  ),
  'refund amount': onOrder('refund amount', 'refunds', [...SHIPPED, 'status=paid'], ({ id, total, dice }) => {
    if (refundModeOf(id) !== 'amounts') return undefined
    const amount = 1 + dice.below(Math.ceil(total / 3))
    return { about: { amount }, body: note => ({ amount, reason: note }) }
  }),
  'cancel lines': onOrder('cancel lines', 'cancel', ['status=paid'], ({ id }) =>
    refundModeOf(id) === 'lines' ? { body: note => ({ lines: ONE_UNIT, reason: note }) } : undefined
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
      if (refundModeOf(order_id) !== 'payments' || left <= 0) return undefined
      const amount = dice.chance(0.2) ? left : 1 + dice.below(Math.ceil(left / 3))
      return { about: { amount }, body: note => ({ amount, reason: note }) }
    }
  ),
  'adjust stock': async client => {
    const { dice, goods, counted } = client
    const variantId = dice.of([goods.plenty, goods.scarce, counted, counted])
    const location = variantId === counted ? dice.of(goods.locations) : goods.locations[0]
    const isLess = variantId !== goods.scarce && dice.chance(0.5)
    const delta = (1 + dice.below(5)) * (isLess ? -1 : 1)
    const about = { variantId, location, amount: delta }
    return planned(client, 'adjust stock', about, '/api/inventory/adjustments', note => ({
      variant_id: variantId,
      location,
      delta,
      reason: note
    }))
  },
  'count stock': async client => {
    const { dice, goods, counted: variantId } = client
    const location = dice.of(goods.locations)
    const amount = COUNTED_MIN + dice.below(COUNTED_MIN)
    const about = { variantId, location, amount }
    const path = `/api/inventory/levels/${variantId}`
    const body = (note: string) => ({ on_hand: amount, location, reason: note })
    return planned(client, 'count stock', about, path, body, 'PUT')
  },
  'add note': onOrder('add note', 'notes', ['status=paid', 'status=shipped'], () => ({
    body: note => ({ text: note })
  }))
}

/** Returns the shipment that an acknowledged operation created, from its response. */
export function shipmentOf({ note, answer }: Operation): Shipment | undefined {
  return answer?.shipments?.find((each: Shipment) => each.tracking_number === note)
}
type Shipment = { id: string; tracking_number: string; lines: { line: number; quantity: number }[] }

/** Operations after which the shipments of the order cannot be voided. */
const isOfReturn = ({ kind }: Operation): boolean => kind.startsWith('return') || kind === 'refund lines'

/** The request body, and further objects of the operation besides the order or payment. */
type Content = { about?: OperationSubject; body: (note: string) => object }

function onOrder(
  kind: OperationKind,
  verb: string,
  queries: readonly string[],
  contentOf: (order: Order & Pick<ChaosClient, 'dice'>) => Content | undefined
): Planner {
  return async client => {
    const orders = await list<Order>(client, `${ORDERS}?${client.dice.of(queries)}`)
    const refused = refusedOf(client, kind)
    const plans = orders.flatMap(order => {
      if (refused.has(order.id) && !client.dice.chance(AGAIN_SHARE)) return []
      const content = contentOf({ ...order, dice: client.dice })
      if (content === undefined) return []
      const about = { ...content.about, orderId: order.id }
      return [planned(client, kind, about, `${ORDERS}/${order.id}/${verb}`, content.body)]
    })
    return plans.length === 0 ? undefined : client.dice.of(plans)
  }
}

/** Orders for which this kind was rejected. Most of them cannot succeed any more. */
const refusedOf = ({ record }: ChaosClient, kind: OperationKind): Set<string | undefined> =>
  new Set(
    record.operations
      .filter(each => each.kind === kind && each.state === 'refused')
      .map(({ about }) => about.orderId)
  )

function onPayment(
  kind: OperationKind,
  verb: string,
  queries: readonly string[],
  contentOf: (payment: Payment & Pick<ChaosClient, 'dice'>) => Content | undefined
): Planner {
  return async client => {
    const payments = await list<Payment>(client, `${PAYMENTS}?${client.dice.of(queries)}`)
    const plans = payments.flatMap(payment => {
      const content = contentOf({ ...payment, dice: client.dice })
      if (content === undefined) return []
      const about = { ...content.about, paymentId: payment.id, orderId: payment.order_id }
      return [planned(client, kind, about, `${PAYMENTS}/${payment.id}/${verb}`, content.body)]
    })
    return plans.length === 0 ? undefined : client.dice.of(plans)
  }
}

const planned = (
  { goods }: Administrator,
  kind: OperationKind,
  about: OperationSubject,
  path: string,
  body: (note: string) => object,
  method = 'POST'
): OperationPlan => ({
  kind,
  about,
  request: note => ({ method, path, token: goods.admin, body: body(note) })
})

async function list<T>(client: Administrator, path: string): Promise<T[]> {
  const answer = await sendOnce(client, {
    method: 'GET',
    path: `${path}&limit=${LISTED}`,
    token: client.goods.admin
  })
  return answer?.status === 200 ? answer.json.items : []
}
