import type { Delivery } from '../../../kernel/events.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { AuthApi, Contact } from '../../auth/index.ts'
import type { OrderLetter, OrdersApi } from '../../orders/index.ts'
import type { ShippingApi } from '../../shipping/index.ts'
import type { Draft, WriteMessages } from '../messages/service.ts'
import type { TemplateName } from '../templates/catalogue.ts'

const SAME_TRANSACTION_MS = 50

type OrderEvent = { readonly order_id: string }
type Deps = {
  auth: Pick<AuthApi, 'contacts'> | undefined
  orders: Pick<OrdersApi, 'letters'> | undefined
  shipping: Pick<ShippingApi, 'told'> | undefined
  write: WriteMessages
  isOn: (template: TemplateName) => boolean
}

/** What a mail says of an order, without what proves whose it is. */
export const orderOf = ({ id, number, currency, lines, terms, ...letter }: OrderLetter) => ({
  ...{ id, number, currency, lines, terms, payment_status: letter.payment_status ?? '' },
  ...{ subtotal: letter.subtotal, discount_total: letter.discount_total, total: letter.total },
  ...{ shipping_total: letter.shipping_total, tax_added: letter.tax_added, tax_total: letter.tax_total }
})

/** What a mail says of a shipment; `undefined` when the order has none such. */
export function shipmentOf({ lines, shipments }: OrderLetter, shipmentId: string) {
  const shipment = shipments.find(({ id }) => id === shipmentId)
  if (shipment === undefined) return undefined
  return {
    carrier: shipment.carrier ?? '',
    tracking_number: shipment.tracking_number ?? '',
    lines: shipment.lines.flatMap(({ line: number, quantity }) => {
      const line = lines.find(each => each.line === number)
      return line === undefined
        ? []
        : { sku: line.sku, name: line.name, variant_name: line.variant_name, quantity }
    })
  }
}

/** Who is told of an order: at the address that it was ordered with, or else at that of the account. */
export const recipientOf = (
  { email, name, customer_id: customerId, locale }: OrderLetter,
  contacts: readonly Contact[]
): Draft['to'] => {
  const account = contacts.find(({ id }) => id === customerId)
  return {
    email: email ?? account?.email ?? null,
    name: name ?? account?.name ?? null,
    customerId,
    locale: locale ?? account?.locale ?? null
  }
}

/** Both are the time of their transaction; its events are some milliseconds apart. */
const isSameTransaction = (placedAt: Date | null, since: Date): boolean =>
  placedAt !== null && Math.abs(since.getTime() - placedAt.getTime()) < SAME_TRANSACTION_MS

/** Tells those who have ordered what became of it. */
export function createOrderHearing({ auth, orders, shipping, write, isOn }: Deps) {
  const hear =
    <E extends OrderEvent>(
      template: TemplateName,
      /** What is told beside the order; `undefined`: nothing is. */
      also: (
        event: E,
        letter: OrderLetter,
        since: Date
      ) => Readonly<Record<string, unknown>> | undefined = () => ({})
    ) =>
    async (tx: Transaction, events: readonly Delivery<E>[]): Promise<void> => {
      if (orders === undefined || !isOn(template)) return
      const letters = await orders.letters(
        tx,
        events.map(({ payload }) => payload.order_id)
      )
      const customerIds = new Set(letters.map(({ customer_id }) => customer_id).filter(id => id !== null))
      const contacts = (await auth?.contacts([...customerIds])) ?? []
      const drafts = events.flatMap(({ id, payload, since }): Draft[] => {
        const letter = letters.find(each => each.id === payload.order_id)
        const more = letter && also(payload, letter, since)
        if (letter === undefined || more === undefined) return []
        return [
          {
            origin: id,
            template,
            to: recipientOf(letter, contacts),
            data: { order: orderOf(letter), ...more }
          }
        ]
      })
      await write(tx, drafts)
    }

  const hearParcel = (template: TemplateName) =>
    hear<OrderEvent & { shipment_id: string }>(template, ({ shipment_id }, letter) => {
      const shipment = shipmentOf(letter, shipment_id)
      return shipment && { shipment }
    })
  const hearDelivered = hearParcel('order_delivered')

  return {
    'orders.placed': hear('order_placed'),
    // Who gives up what nobody looked after yet knows that; to whom else an address belongs has never heard of it. The buyer of an
    // evicted order gets `order_evicted` instead.
    'orders.canceled': hear<OrderEvent & { by: string }>('order_canceled', ({ by }, letter) =>
      (letter.placed_at === null && (by === 'customer' || by === 'guest')) ||
      letter.canceled_for === 'evicted'
        ? undefined
        : {}
    ),
    'orders.evicted': hear<OrderEvent & { is_canceled: boolean }>('order_evicted', ({ is_canceled }) => ({
      outcome: is_canceled ? 'canceled' : 'reduced'
    })),
    'orders.shipped': hearParcel('order_shipped'),
    // What was wrong may have been voided before this is heard of.
    'shipping.delivered': async (
      tx: Transaction,
      events: readonly Delivery<OrderEvent & { shipment_id: string }>[]
    ) => {
      const ids = events.map(({ payload }) => payload.shipment_id)
      const told = await shipping?.told(tx, ids, 'delivered')
      await hearDelivered(
        tx,
        events.filter(({ payload }) => told === undefined || told.has(payload.shipment_id))
      )
    },
    // Of what is paid in parts the last one is told. A payment that places the order is part of the mail about that.
    'payments.paid': hear<OrderEvent & { is_paid: boolean }>(
      'order_paid',
      ({ is_paid }, { placed_at }, since) =>
        is_paid && !(isOn('order_placed') && isSameTransaction(placed_at, since)) ? {} : undefined
    ),
    'payments.refunded': hear<OrderEvent & { amount: number }>('order_refunded', ({ amount }) => ({ amount }))
  }
}
