import { defineError } from '../../kernel/errors.ts'

export const zoneNotFound = defineError('not_found', 'SHIPPING_ZONE_NOT_FOUND', 'There is no such zone.', {
  constraints: ['shipping.rates_zone']
})
export const methodNotFound = defineError(
  'not_found',
  'SHIPPING_METHOD_NOT_FOUND',
  'There is no such shipping method.'
)
export const rateNotFound = defineError('not_found', 'SHIPPING_RATE_NOT_FOUND', 'There is no such rate.')
export const zoneStale = defineError(
  'stale',
  'SHIPPING_ZONE_STALE',
  'The zone was changed in the meantime; read it again.'
)
export const methodStale = defineError(
  'stale',
  'SHIPPING_METHOD_STALE',
  'The shipping method was changed in the meantime; read it again.'
)
export const rateStale = defineError(
  'stale',
  'SHIPPING_RATE_STALE',
  'The rate was changed in the meantime; read it again.'
)
export const areasInvalid = defineError(
  'invalid',
  'SHIPPING_AREAS_INVALID',
  'Areas of the zone are none; "errors" says which and why.'
)
export const zoneAmbiguous = defineError(
  'conflict',
  'SHIPPING_ZONE_AMBIGUOUS',
  'For some places nobody could tell whether this zone or another one is meant; "errors" says for which areas.'
)
export const tableInvalid = defineError(
  'invalid',
  'SHIPPING_TABLE_INVALID',
  'The steps of a table must rise, and only the last one may be without bound; "errors" says which does not.'
)
export const rulesLimit = defineError(
  'conflict',
  'SHIPPING_RULES_LIMIT',
  'There are as many of these as there may be; "limit" says how many.'
)
export const regionInvalid = defineError(
  'invalid',
  'SHIPPING_REGION_INVALID',
  'What it costs depends on the region, and this is none, or too large a one; "errors" says how one is written.'
)
export const variantUnavailable = defineError(
  'conflict',
  'SHIPPING_VARIANT_UNAVAILABLE',
  'A variant is not for sale at present, or has no price in this market; "variant_id" says which.'
)
export const shipmentsNotFound = defineError(
  'not_found',
  'SHIPPING_SHIPMENTS_NOT_FOUND',
  'Nothing is sent, or kept to be picked up, for such an order of yours.'
)
export const shipmentNotFound = defineError(
  'not_found',
  'SHIPPING_SHIPMENT_NOT_FOUND',
  'There is no such shipment.'
)
export const shipmentStale = defineError(
  'stale',
  'SHIPPING_SHIPMENT_STALE',
  'The shipment was changed in the meantime; read it again.'
)
export const shipmentNotSent = defineError(
  'conflict',
  'SHIPPING_SHIPMENT_NOT_SENT',
  'It is still to be sent: say first that it is on its way, with POST /api/admin/orders/:id/shipments.'
)
export const shipmentVoided = defineError(
  'conflict',
  'SHIPPING_SHIPMENT_VOIDED',
  'It was said by mistake that it had left: what is in it is sent, and told of, as another shipment.'
)
export const shipmentLeft = defineError(
  'conflict',
  'SHIPPING_SHIPMENT_LEFT',
  'Its carrier has told of it, so it has left. Where that is wrong, void these events first.'
)
export const carrierNotFound = defineError(
  'not_found',
  'SHIPPING_CARRIER_NOT_FOUND',
  'There is no such carrier.'
)
export const carrierStale = defineError(
  'stale',
  'SHIPPING_CARRIER_STALE',
  'The carrier was changed in the meantime; read it again.'
)
export const numberInvalid = defineError(
  'invalid',
  'SHIPPING_NUMBER_INVALID',
  'The carrier has no such numbers; "errors" says why. With "unchecked" it is taken as it is.'
)
export const trackingNotFound = defineError(
  'not_found',
  'SHIPPING_TRACKING_NOT_FOUND',
  'No parcel of this shop has such a number.'
)
export const eventNotFound = defineError(
  'not_found',
  'SHIPPING_EVENT_NOT_FOUND',
  'Nothing like that was told of the shipment.'
)
export const eventTimeInvalid = defineError(
  'invalid',
  'SHIPPING_EVENT_TIME_INVALID',
  'An event has occurred since the year 2000, and not later than in a day.'
)
export const eventsLimit = defineError(
  'conflict',
  'SHIPPING_EVENTS_LIMIT',
  'As many events are told of this shipment as there may be; "limit" says how many.'
)

// Only the database says these: nobody throws them by name.
defineError('invalid', 'SHIPPING_DAYS_INVALID', 'The most days cannot be fewer than the least.', {
  constraints: ['shipping.methods_days'],
  fault: { path: 'body/estimated_days/max', message: 'must not be less than min' }
})
defineError(
  'invalid',
  'SHIPPING_RATE_PLACE',
  'What is shipped costs something in a zone; pickup and digital delivery cost the same everywhere.',
  {
    constraints: ['shipping.rates_place'],
    fault: {
      path: 'body/zone_id',
      message: 'must be sent for methods of kind "shipping", and for them alone'
    }
  }
)
defineError('conflict', 'SHIPPING_CARRIER_TAKEN', 'There is a carrier with this code or name.', {
  constraints: ['shipping.carriers_code_once', 'shipping.carriers_name']
})
defineError('conflict', 'SHIPPING_RATE_TAKEN', 'The method has a rate of this zone and currency.', {
  constraints: ['shipping.rates_once'],
  fault: { path: 'body/zone_id', message: 'must not be that of another rate of this method and currency' }
})
