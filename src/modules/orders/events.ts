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
/** `orders.created`: somebody has ordered; whether it has to be paid first is not said. */
export const orderCreated = defineEvent(
  'orders.created',
  {
    description: 'Somebody has ordered. It may have to be paid before it is looked after.',
    subject: 'the order',
    outside: 'each'
  },
  about
)
/** `orders.placed`: an order is secured. */
export const orderPlaced = defineEvent(
  'orders.placed',
  {
    description: 'An order is to be looked after: its money is held or taken, or need not be waited for.',
    subject: 'the order',
    outside: 'each'
  },
  about
)
/** `orders.claimed`: a guest's order has joined an account. */
export const orderClaimed = defineEvent(
  'orders.claimed',
  {
    description: 'An order of a guest has joined the account of a customer.',
    subject: 'the order',
    outside: 'each'
  },
  { order_id: Id, number: Type.String(), customer_id: Id }
)
/** `orders.canceled`: nothing is delivered any more. */
export const orderCanceled = defineEvent(
  'orders.canceled',
  {
    description: 'An order is canceled: nothing of it is delivered, and no money is taken.',
    subject: 'the order',
    outside: 'each'
  },
  {
    order_id: Id,
    number: Type.String(),
    customer_id: about.customer_id,
    by: Type.Enum(['customer', 'guest', 'admin', 'system'], { description: 'Who wanted it canceled.' })
  }
)
/** `orders.shipped`: some of an order is on its way, or delivered. */
export const orderShipped = defineEvent(
  'orders.shipped',
  {
    description: 'Some or all of an order is on its way, or, where nothing is carried, delivered.',
    subject: 'the order',
    outside: 'each'
  },
  { order_id: Id, number: Type.String(), customer_id: about.customer_id, shipment_id: Id }
)
/** `orders.shipment_voided`: a parcel never left. */
export const orderShipmentVoided = defineEvent(
  'orders.shipment_voided',
  {
    description:
      'It was said by mistake that a parcel of an order had left: what is in it is still to be sent.',
    subject: 'the order',
    outside: 'each'
  },
  { order_id: Id, number: Type.String(), customer_id: about.customer_id, shipment_id: Id }
)
/** `orders.credited`: less is to be paid for an order. */
export const orderCredited = defineEvent(
  'orders.credited',
  {
    description:
      'Less is to be paid for an order: some of it is canceled or paid back. Of what is paid, back goes back.',
    subject: 'the order',
    outside: 'each'
  },
  {
    ...{ order_id: Id, number: Type.String(), customer_id: about.customer_id, adjustment_id: Id },
    ...{ amount: Type.Integer(), back: Type.Integer(), currency: Currency }
  }
)
/** `orders.evicted`: an order that is not paid lost units to one that is. */
export const orderEvicted = defineEvent(
  'orders.evicted',
  {
    description:
      'An order to be paid later lost units to a buyer who paid. These units are canceled, or all of the order is.',
    subject: 'the order',
    outside: 'each'
  },
  {
    ...{ order_id: Id, number: Type.String(), customer_id: about.customer_id },
    is_canceled: Type.Boolean({ description: 'False: only the units that it lost are canceled.' })
  }
)
/** `orders.unpaid_stock_high`: unpaid orders reserve a large share of some variants. */
export const unpaidStockHigh = defineEvent(
  'orders.unpaid_stock_high',
  {
    description:
      'Orders paid by bank transfer, on delivery or on account reserve a large share of some variants and are not paid. Sent once a day at most.',
    subject: 'the shop',
    outside: 'latest'
  },
  {
    /** The variants with the most such units first, a hundred at most. */
    variants: Type.Array(
      Type.Object({
        variant_id: Id,
        units: Type.Integer(),
        percent: Type.Integer({ description: 'Of its units that are free or reserved by unpaid orders.' })
      })
    ),
    /** Of all such orders, whatever they reserve. */
    units: Type.Integer(),
    orders: Type.Integer(),
    buyers: Type.Integer({ description: 'Customers, and e-mail addresses of guests.' }),
    networks: Type.Integer(),
    largest_network_units: Type.Integer()
  }
)
/** `orders.erased`: the personal data of a guest's order is erased. */
export const orderErased = defineEvent(
  'orders.erased',
  {
    description:
      'The personal data of an order without an account was erased. Erase what you have copied of it. Its amounts stay.',
    subject: 'the order',
    outside: 'each'
  },
  { order_id: Id, number: Type.String() }
)
/** `orders.data_requested`: a guest wants to see or erase their data. */
export const dataRequested = defineEvent(
  'orders.data_requested',
  {
    description: 'A guest has requested their data or its erasure. A link is sent to them.',
    subject: 'the request',
    outside: 'never'
  },
  { request_id: Id }
)
