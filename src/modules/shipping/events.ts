import { defineEvent } from '../../kernel/events.ts'
import { Id } from '../../kernel/wire.ts'
import { ToldStatus } from './tracking/schema.ts'

const subject = 'the order'
const of = { order_id: Id, shipment_id: Id }

/** `shipping.delivered`: a parcel has arrived. */
export const shipmentDelivered = defineEvent(
  'shipping.delivered',
  { description: 'A shipment of an order has arrived, or was picked up.', subject, outside: 'each' },
  of
)
/** `shipping.returned`: a parcel has come back. */
export const shipmentReturned = defineEvent(
  'shipping.returned',
  {
    description: 'A shipment of an order comes back, or has come back, to the shop.',
    subject,
    outside: 'each'
  },
  of
)
/** `shipping.corrected`: it has not arrived, or not come back, after all. */
export const shipmentCorrected = defineEvent(
  'shipping.corrected',
  {
    description: 'What was told of a shipment of an order was wrong: its status is this one again.',
    subject,
    outside: 'each'
  },
  { ...of, status: ToldStatus }
)
