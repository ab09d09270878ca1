import { defineEvent } from '../../kernel/events.ts'
import { Type } from '../../kernel/schema.ts'
import { Currency, Id, nullable } from '../../kernel/wire.ts'

const about = {
  order_id: Id,
  number: Type.String(),
  customer_id: nullable({ ...Id, description: 'Null: a guest.' }),
  currency: Currency,
  total: Type.Integer()
}
/** `orders.created`: an order was created. It may still wait for its payment. */
export const orderCreatedEvent = defineEvent(
  'orders.created',
  {
    description: 'An order was created. It may have to be paid before it is processed.',
    subject: 'the order',
    webhook: 'all'
  },
  about
)
/** `orders.placed`: an order can be processed. */
export const orderPlacedEvent = defineEvent(
  'orders.placed',
  {
    description: 'An order can be processed: it is authorized or paid, or is paid later.',
    subject: 'the order',
    webhook: 'all'
  },
  about
)
/** `orders.claimed`: a guest order joined an account. */
export const orderClaimedEvent = defineEvent(
  'orders.claimed',
  {
    description: 'A guest order joined the account of a customer.',
    subject: 'the order',
    webhook: 'all'
  },
  { order_id: Id, number: Type.String(), customer_id: Id }
)
/** `orders.canceled`: an order was canceled. */
export const orderCanceledEvent = defineEvent(
  'orders.canceled',
  {
    description: 'An order was canceled: nothing is delivered and no payment is captured.',
    subject: 'the order',
    webhook: 'all'
  },
  {
    order_id: Id,
    number: Type.String(),
    customer_id: about.customer_id,
    by: Type.Enum(['customer', 'guest', 'admin', 'system'], {
      description: 'Who requested the cancellation.'
    })
  }
)
/** `orders.shipped`: units of an order were shipped or delivered. */
export const orderShippedEvent = defineEvent(
  'orders.shipped',
  {
    description: 'Units of an order were shipped, or, if they are digital, delivered.',
    subject: 'the order',
    webhook: 'all'
  },
  { order_id: Id, number: Type.String(), customer_id: about.customer_id, shipment_id: Id }
)
/** `orders.shipment_voided`: a shipment was voided. */
export const orderShipmentVoidedEvent = defineEvent(
  'orders.shipment_voided',
  {
    description:
      'A shipment was voided because it was recorded by mistake: its units are still to be shipped.',
    subject: 'the order',
    webhook: 'all'
  },
  { order_id: Id, number: Type.String(), customer_id: about.customer_id, shipment_id: Id }
)
/** `orders.credited`: the amount due of an order was reduced. */
export const orderCreditedEvent = defineEvent(
  'orders.credited',
  {
    description:
      'An order was credited because units were canceled or an amount is refunded. `back` is the part of the credit that is refunded.',
    subject: 'the order',
    webhook: 'all'
  },
  {
    order_id: Id,
    number: Type.String(),
    customer_id: about.customer_id,
    adjustment_id: Id,
    amount: Type.Integer(),
    back: Type.Integer(),
    currency: Currency
  }
)
/** `orders.evicted`: an unpaid order lost units to a paid one. */
export const orderEvictedEvent = defineEvent(
  'orders.evicted',
  {
    description:
      'An unpaid order with a deferred payment lost units to a paid order. These units are canceled, or the whole order is.',
    subject: 'the order',
    webhook: 'all'
  },
  {
    order_id: Id,
    number: Type.String(),
    customer_id: about.customer_id,
    is_canceled: Type.Boolean({ description: 'False: only the lost units are canceled.' })
  }
)
/** `orders.unpaid_stock_high`: unpaid orders reserve a large share of some variants. */
export const unpaidStockHighEvent = defineEvent(
  'orders.unpaid_stock_high',
  {
    description:
      'Orders paid by bank transfer, on delivery or on account reserve a large share of some variants and are not paid. Sent once a day at most.',
    subject: 'the shop',
    webhook: 'latest',
    unversioned: 'The shop has no version.'
  },
  {
    /** At most 100 variants, most reserved units first. */
    variants: Type.Array(
      Type.Object({
        variant_id: Id,
        units: Type.Integer(),
        percent: Type.Integer({
          description: 'Percentage of the units that are available or reserved by unpaid orders.'
        })
      })
    ),
    /** Units of all variants that unpaid orders reserve. */
    units: Type.Integer(),
    orders: Type.Integer(),
    buyers: Type.Integer({ description: 'Customers, and email addresses of guests.' }),
    networks: Type.Integer(),
    largest_network_units: Type.Integer()
  }
)
/** `orders.erased`: the personal data of a guest order was erased. */
export const orderErasedEvent = defineEvent(
  'orders.erased',
  {
    description:
      'The personal data of an order without an account was erased. Erase what you have copied of it. Its amounts stay.',
    subject: 'the order',
    webhook: 'all'
  },
  { order_id: Id, number: Type.String() }
)
/** `orders.data_requested`: a guest requested their data or its erasure. */
export const dataRequestedEvent = defineEvent(
  'orders.data_requested',
  {
    description: 'A guest has requested their data or its erasure. A link is sent to them.',
    subject: 'the request',
    webhook: 'none'
  },
  { request_id: Id }
)
