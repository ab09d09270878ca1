import type { JobDelivery } from '../../../kernel/events.ts'
import type { Metadata } from '../../../kernel/metadata.ts'
import type { EventFollowUp } from '../../../platform/outbox/handlers.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { AuthApi, UserContact } from '../../auth/index.ts'
import type { OrderMessageSummary, OrdersApi } from '../../orders/index.ts'
import type { ShippingApi } from '../../shipping/index.ts'
import { linkFreeText } from '../messages/link-free-text.ts'
import type { NotificationDraft, QueueOrSendNotifications } from '../messages/service.ts'
import type { MailTemplateName } from '../templates/definitions.ts'

type OrderEvent = { readonly order_id: string }
type Deps = {
  auth: Pick<AuthApi, 'contacts'> | undefined
  orders: Pick<OrdersApi, 'orderSummaries'> | undefined
  shipping: Pick<ShippingApi, 'findReported'> | undefined
  queueOrSend: QueueOrSendNotifications
  isEnabled: (template: MailTemplateName) => boolean
}

/**
 * Metadata for a template, without entries that contain a link, because an order can name another person's address. It is a
 * list, because a template cannot name a key that an object may lack.
 */
const metadataVariables = (metadata: Metadata) =>
  Object.entries(metadata)
    .map(([key, value]) => ({ key: linkFreeText(key), value: linkFreeText(value) }))
    .filter(({ key, value }) => key !== '' && value !== '')

/** Variables about an order for a template, without its token. */
export const orderMailVariables = ({
  id,
  number,
  currency,
  lines,
  terms,
  token_version,
  ...summary
}: OrderMessageSummary) => ({
  id,
  token_version,
  number,
  currency,
  lines: lines.map(line => ({ ...line, metadata: metadataVariables(line.metadata) })),
  terms,
  payment_status: summary.payment_status ?? '',
  subtotal: summary.subtotal,
  discount_total: summary.discount_total,
  total: summary.total,
  shipping_total: summary.shipping_total,
  tax_added: summary.tax_added,
  tax_total: summary.tax_total,
  tenders: summary.tenders.map(({ label, amount }) => ({ label, amount })),
  due: summary.due,
  metadata: metadataVariables(summary.metadata)
})

/** Variables about a shipment for a template. Returns undefined when the order has no such shipment. */
export function shipmentMailVariables({ lines, shipments }: OrderMessageSummary, shipmentId: string) {
  const shipment = shipments.find(({ id }) => id === shipmentId)
  if (shipment === undefined) return undefined
  return {
    carrier: shipment.carrier ?? '',
    tracking_number: shipment.tracking_number ?? '',
    lines: shipment.lines.flatMap(({ line: number, quantity }) => {
      const line = lines.find(each => each.line === number)
      if (line === undefined) return []
      const { sku, name, variant_name, metadata } = line
      return [{ sku, name, variant_name, metadata: metadataVariables(metadata), quantity }]
    })
  }
}

/** Recipient of mails about an order: the address given with the order, or else that of the account. */
export const orderMailRecipient = (
  { email, name, customer_id: customerId, locale }: OrderMessageSummary,
  contacts: readonly UserContact[]
): NotificationDraft['to'] => {
  const account = contacts.find(({ id }) => id === customerId)
  return {
    email: email ?? account?.email ?? null,
    name: name ?? account?.name ?? null,
    customerId,
    locale: locale ?? account?.locale ?? null
  }
}

/**
 * Returns `isWanted` of the module. Only the payment that completes the total is mailed. When it also places the order,
 * `order_placed` mentions it.
 */
export const createOrderMailFilter =
  (isEnabled: Deps['isEnabled']) =>
  (event: string, payload: unknown, together: ReadonlySet<string>): boolean =>
    event !== 'payments.paid' ||
    (isEnabled('order_paid') &&
      (payload as { is_paid: boolean }).is_paid &&
      !(isEnabled('order_placed') && together.has('orders.placed')))

/** Queues mails about an order to its buyer. */
export function createOrderMailSubscriber({ auth, orders, shipping, queueOrSend, isEnabled }: Deps) {
  const mailHandler =
    <E extends OrderEvent>(
      template: MailTemplateName,
      /** Returns the variables besides the order, or undefined when no mail is sent. */
      extraVariables: (
        event: E,
        order: OrderMessageSummary
      ) => Readonly<Record<string, unknown>> | undefined = () => ({})
    ) =>
    async (tx: Transaction, events: readonly JobDelivery<E>[]): Promise<EventFollowUp | undefined> => {
      if (orders === undefined || !isEnabled(template)) return undefined
      const summaries = await orders.orderSummaries(
        tx,
        events.map(({ payload }) => payload.order_id)
      )
      const customerIds = new Set(summaries.map(({ customer_id }) => customer_id).filter(id => id !== null))
      const contacts = customerIds.size === 0 ? [] : ((await auth?.contacts([...customerIds])) ?? [])
      const drafts = events.flatMap(({ id, payload }): NotificationDraft[] => {
        const summary = summaries.find(each => each.id === payload.order_id)
        const extra = summary && extraVariables(payload, summary)
        if (summary === undefined || extra === undefined) return []
        return [
          {
            sourceId: id,
            template,
            to: orderMailRecipient(summary, contacts),
            data: { order: orderMailVariables(summary), ...extra }
          }
        ]
      })
      return queueOrSend(tx, drafts)
    }

  const shipmentMailHandler = (template: MailTemplateName) =>
    mailHandler<OrderEvent & { shipment_id: string }>(template, ({ shipment_id }, order) => {
      const shipment = shipmentMailVariables(order, shipment_id)
      return shipment && { shipment }
    })
  const handleDelivered = shipmentMailHandler('order_delivered')

  return {
    'orders.placed': mailHandler('order_placed'),
    // Buyers who cancel before their order is placed get no mail: they know, and a mistyped address may be a stranger's.
    // The buyer of an evicted order gets `order_evicted` instead.
    'orders.canceled': mailHandler<OrderEvent & { by: string }>('order_canceled', ({ by }, order) =>
      (order.placed_at === null && (by === 'customer' || by === 'guest')) || order.canceled_for === 'evicted'
        ? undefined
        : {}
    ),
    'orders.evicted': mailHandler<OrderEvent & { is_canceled: boolean }>(
      'order_evicted',
      ({ is_canceled }) => ({
        outcome: is_canceled ? 'canceled' : 'reduced'
      })
    ),
    'orders.shipped': shipmentMailHandler('order_shipped'),
    // A wrong shipment may have been voided before this event is handled.
    'shipping.delivered': async (
      tx: Transaction,
      events: readonly JobDelivery<OrderEvent & { shipment_id: string }>[]
    ) => {
      const ids = events.map(({ payload }) => payload.shipment_id)
      const delivered = await shipping?.findReported(tx, ids, 'delivered')
      return handleDelivered(
        tx,
        events.filter(({ payload }) => delivered === undefined || delivered.has(payload.shipment_id))
      )
    },
    'payments.paid': mailHandler<OrderEvent & { is_paid: boolean }>('order_paid', ({ is_paid }) =>
      is_paid ? {} : undefined
    ),
    'payments.refunded': mailHandler<OrderEvent & { amount: number }>('order_refunded', ({ amount }) => ({
      amount
    }))
  }
}
