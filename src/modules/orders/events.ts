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
