import { defineEvent } from '../../kernel/events.ts'
import { Id } from '../../kernel/wire.ts'
import { TrackingStatus } from './tracking/schema.ts'

const subject = 'the order'
const unversioned = 'The version of an order does not count changes of its parcels.'
const of = { order_id: Id, shipment_id: Id }

/** `shipping.delivered`: a parcel was delivered. */
export const shipmentDeliveredEvent = defineEvent(
  'shipping.delivered',
  { description: 'A shipment of an order was delivered or picked up.', subject, webhook: 'all', unversioned },
  of
)
/** `shipping.returned`: a parcel is returned to the shop. */
export const shipmentReturnedEvent = defineEvent(
  'shipping.returned',
  {
    description: 'A shipment of an order is on its way back, or back at the shop.',
    subject,
    webhook: 'all',
    unversioned
  },
  of
)
/** `shipping.corrected`: a tracking event was voided, so the shipment was not delivered or not returned. */
export const shipmentCorrectedEvent = defineEvent(
  'shipping.corrected',
  {
    description: 'A wrong tracking event of a shipment was voided. The shipment has this status again.',
    subject,
    webhook: 'all',
    unversioned
  },
  { ...of, status: TrackingStatus }
)
