import type { Operation } from './operations.ts'
import type { Mail, Webhook } from './receivers.ts'

/** Changes of an order that webhooks and mails report. */
export type OrderNotices = {
  id: string
  number: string
  isPlaced: boolean
  isCanceled: boolean
  shipments: readonly { id: string; isVoided: boolean }[]
  /** Ids of the adjustments. */
  credits: readonly string[]
}
type Body = { type: string; timestamp?: string; data: Record<string, unknown> }

/** Returns a sentence for each event that did not arrive under exactly one id. */
export function brokenNotices(
  operations: readonly Operation[],
  orders: readonly OrderNotices[],
  { webhooks, mails }: { webhooks: readonly Webhook[]; mails: readonly Mail[] }
): string[] {
  return [
    ...brokenWebhooks(orders, webhooks),
    ...brokenMails(orders, webhooks, mails),
    ...brokenShipments(operations, mails)
  ]
}

/**
 * Events of one transaction are usually less than this apart. An order that takes units of others is placed by a second
 * transaction, which may follow within some milliseconds. Then the payment may be mailed as well.
 */
const SAME_TRANSACTION_MS = 2
/** The shop treats a payment as the one that placed the order when both events differ by less than this. */
const TAKEN_FOR_SAME_MS = 100

/** Events that occur once per subject. */
const eventsOf = ({ id, isPlaced, isCanceled, shipments, credits }: OrderNotices): string[] => [
  `orders.created of ${id}`,
  ...(isPlaced ? [`orders.placed of ${id}`] : []),
  ...(isCanceled ? [`orders.canceled of ${id}`] : []),
  ...shipments.map(shipment => `orders.shipped of ${shipment.id}`),
  ...shipments.filter(({ isVoided }) => isVoided).map(shipment => `orders.shipment_voided of ${shipment.id}`),
  ...credits.map(credit => `orders.credited of ${credit}`)
]
const ONCE = ['created', 'placed', 'canceled', 'shipped', 'shipment_voided', 'credited'].map(
  name => `orders.${name}`
)

function brokenWebhooks(orders: readonly OrderNotices[], webhooks: readonly Webhook[]): string[] {
  const bodies = Map.groupBy(webhooks, ({ id }) => id)
  const ids = new Map<string, Set<string>>()
  for (const [id, [first]] of bodies) {
    const { type, data } = JSON.parse(first?.body ?? '') as Body
    if (!ONCE.includes(type)) continue
    const event = `${type} of ${data.shipment_id ?? data.adjustment_id ?? data.order_id}`
    ids.set(event, (ids.get(event) ?? new Set()).add(id))
  }
  const expected = new Set(orders.flatMap(eventsOf))
  return [
    ...[...bodies]
      .filter(([, tries]) => new Set(tries.map(({ body }) => body)).size > 1)
      .map(([id]) => `the webhook ${id} arrived with different bodies`),
    ...[...expected]
      .filter(event => ids.get(event)?.size !== 1)
      .map(event => `the webhook ${event} arrived under ${ids.get(event)?.size ?? 0} ids`),
    ...[...ids.keys()]
      .filter(event => !expected.has(event))
      .map(event => `the webhook ${event} arrived, which never happened`)
  ]
}

function brokenMails(
  orders: readonly OrderNotices[],
  webhooks: readonly Webhook[],
  mails: readonly Mail[]
): string[] {
  const ids = new Map<string, Set<string>>()
  for (const { id, subject } of mails) ids.set(subject, (ids.get(subject) ?? new Set()).add(id))
  const events = [...new Map(webhooks.map(({ id, body }) => [id, JSON.parse(body) as Body])).values()]
  const toldOf = (orderId: string, type: string, isOne: (body: Body) => boolean = () => true) =>
    events.filter(each => each.type === type && each.data.order_id === orderId && isOne(each)).length
  // The mail of an order names the payment that placed it.
  const isPaidApart =
    (ms: number) =>
    ({ data, timestamp = '' }: Body) => {
      const placed = events.find(
        each => each.type === 'orders.placed' && each.data.order_id === data.order_id
      )
      const apartMs = Math.abs(Date.parse(timestamp) - Date.parse(placed?.timestamp ?? ''))
      return data.is_paid === true && !(apartMs < ms)
    }
  return orders.flatMap(({ id, number, isPlaced }) => {
    const paidApart = (ms: number) => toldOf(id, 'payments.paid', isPaidApart(ms))
    const expected: Readonly<Record<string, readonly [least: number, most?: number]>> = {
      [`Your order ${number}`]: [isPlaced ? 1 : 0],
      [`Your order ${number} is canceled`]: [toldOf(id, 'orders.canceled', isMailed(isPlaced))],
      [`Your payment for order ${number}`]: [paidApart(TAKEN_FOR_SAME_MS), paidApart(SAME_TRANSACTION_MS)],
      [`Your refund for order ${number}`]: [toldOf(id, 'payments.refunded')]
    }
    return Object.entries(expected).flatMap(([subject, [least, most = least]]) => {
      const arrived = ids.get(subject)?.size ?? 0
      if (least <= arrived && arrived <= most) return []
      return [`the mail "${subject}" arrived under ${arrived} ids, not ${least}`]
    })
  })
}

/** A buyer who cancels an order before it is placed gets no mail. */
const isMailed =
  (isPlaced: boolean) =>
  ({ data: { by } }: Body) =>
    isPlaced || (by !== 'customer' && by !== 'guest')

/** The mail of a shipment may be missing only when the shipment was voided. */
function brokenShipments(operations: readonly Operation[], mails: readonly Mail[]): string[] {
  const acknowledged = operations.filter(({ state }) => state === 'acknowledged')
  const voided = new Set(acknowledged.map(({ about }) => about.shipment))
  return acknowledged
    .filter(({ kind }) => kind === 'ship')
    .flatMap(operation => {
      const { note } = operation
      const ids = new Set(mails.filter(({ text }) => text.includes(note)).map(({ id }) => id))
      const isRight = ids.size === 1 || (ids.size === 0 && voided.has(operation))
      return isRight ? [] : [`the mail of shipment ${note} arrived under ${ids.size} ids`]
    })
}
