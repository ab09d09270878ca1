import { defineError } from '../../kernel/errors.ts'

export const shippingZoneNotFoundError = defineError(
  'not_found',
  'SHIPPING_ZONE_NOT_FOUND',
  'The zone does not exist. Check its id.',
  {
    constraints: ['shipping.rates_zone']
  }
)
export const shippingMethodNotFoundError = defineError(
  'not_found',
  'SHIPPING_METHOD_NOT_FOUND',
  'The shipping method does not exist. Check its id.'
)
export const shippingRateNotFoundError = defineError(
  'not_found',
  'SHIPPING_RATE_NOT_FOUND',
  'The rate does not exist. Check its id.'
)
export const shippingZoneStaleError = defineError(
  'stale',
  'SHIPPING_ZONE_STALE',
  'The zone has changed since you read it. Read it again.'
)
export const shippingMethodStaleError = defineError(
  'stale',
  'SHIPPING_METHOD_STALE',
  'The shipping method has changed since you read it. Read it again.'
)
export const shippingRateStaleError = defineError(
  'stale',
  'SHIPPING_RATE_STALE',
  'The rate has changed since you read it. Read it again.'
)
export const shippingZoneAreasInvalidError = defineError(
  'invalid',
  'SHIPPING_AREAS_INVALID',
  'Some areas of the zone are invalid. "errors" lists them with reasons.'
)
export const shippingZoneAreasAmbiguousError = defineError(
  'conflict',
  'SHIPPING_ZONE_AMBIGUOUS',
  'Some areas are as specific as those of another zone, so an address could belong to both. "errors" lists them.'
)
export const priceTableInvalidError = defineError(
  'invalid',
  'SHIPPING_TABLE_INVALID',
  'The bounds of the steps must rise, and only the last step may have none. "errors" lists the wrong steps.'
)
export const shippingRulesLimitReachedError = defineError(
  'conflict',
  'SHIPPING_RULES_LIMIT',
  'The maximum number, "limit", is reached. Delete one first.'
)
export const shippingDestinationRegionInvalidError = defineError(
  'invalid',
  'SHIPPING_REGION_INVALID',
  'Shipping depends on the region, and this region is unknown or too large. "errors" shows the expected form.'
)
export const variantUnavailableError = defineError(
  'conflict',
  'SHIPPING_VARIANT_UNAVAILABLE',
  'The variant "variant_id" is not for sale, or has no price in this market. Remove it.'
)
export const orderShipmentsNotFoundError = defineError(
  'not_found',
  'SHIPPING_SHIPMENTS_NOT_FOUND',
  'No order of yours with this id has shipments.'
)
export const shipmentNotFoundError = defineError(
  'not_found',
  'SHIPPING_SHIPMENT_NOT_FOUND',
  'The shipment does not exist. Check its id.'
)
export const shipmentStaleError = defineError(
  'stale',
  'SHIPPING_SHIPMENT_STALE',
  'The shipment has changed since you read it. Read it again.'
)
export const shipmentNotShippedError = defineError(
  'conflict',
  'SHIPPING_SHIPMENT_NOT_SENT',
  'The shipment is not shipped yet. Ship it first with POST /api/admin/orders/:id/shipments.'
)
export const shipmentAlreadyVoidedError = defineError(
  'conflict',
  'SHIPPING_SHIPMENT_VOIDED',
  'The shipment was voided as recorded by mistake. Use the shipment that replaces it.'
)
export const shipmentHasTrackingEventsError = defineError(
  'conflict',
  'SHIPPING_SHIPMENT_LEFT',
  'The shipment has tracking events, so it has left. If they are wrong, void them first.'
)
export const carrierNotFoundError = defineError(
  'not_found',
  'SHIPPING_CARRIER_NOT_FOUND',
  'The carrier does not exist. Check its id.'
)
export const carrierStaleError = defineError(
  'stale',
  'SHIPPING_CARRIER_STALE',
  'The carrier has changed since you read it. Read it again.'
)
export const trackingNumberInvalidError = defineError(
  'invalid',
  'SHIPPING_NUMBER_INVALID',
  'The tracking number does not fit the carrier. "errors" lists why. Send "unchecked" to store it anyway.'
)
export const trackingNumberNotFoundError = defineError(
  'not_found',
  'SHIPPING_TRACKING_NOT_FOUND',
  'No parcel of this shop has this tracking number.'
)
export const trackingEventNotFoundError = defineError(
  'not_found',
  'SHIPPING_EVENT_NOT_FOUND',
  'The shipment has no such tracking event. Check its id.'
)
export const trackingEventTimeInvalidError = defineError(
  'invalid',
  'SHIPPING_EVENT_TIME_INVALID',
  'The time of an event must be after the year 2000 and at most a day in the future.'
)
export const trackingEventLimitReachedError = defineError(
  'conflict',
  'SHIPPING_EVENTS_LIMIT',
  'The shipment has the maximum number of tracking events, "limit".'
)

export const labelNotFoundError = defineError(
  'not_found',
  'SHIPPING_LABEL_NOT_FOUND',
  'The shipment has no label. Create one with POST /api/admin/shipping/shipments/:id/label.'
)
export const labelFileNotFoundError = defineError(
  'not_found',
  'SHIPPING_LABEL_FILE_NOT_FOUND',
  'The label has no document: it is not ready, was voided, or its document was deleted. Read the status of the label.'
)
export const labelProviderUnknownError = defineError(
  'invalid',
  'SHIPPING_LABEL_PROVIDER_UNKNOWN',
  'Name a label provider of this shop in "provider". "providers" lists them.'
)
export const labelNotPossibleError = defineError(
  'conflict',
  'SHIPPING_LABEL_NOT_POSSIBLE',
  'Only shipments to an address have labels, unless they were voided or erased.'
)
export const labelStaleError = defineError(
  'stale',
  'SHIPPING_LABEL_STALE',
  'The label has changed since you read it. Read it again.'
)

// Errors that only constraints of the database raise.
defineError(
  'invalid',
  'SHIPPING_DAYS_INVALID',
  'The maximum number of days must not be less than the minimum.',
  {
    constraints: ['shipping.methods_days'],
    fault: { path: 'body/estimated_days/max', message: 'must not be less than min' }
  }
)
defineError(
  'invalid',
  'SHIPPING_RATE_PLACE',
  'Rates of a method of kind "shipping" need a zone. Rates of pickup and digital methods have none.',
  {
    constraints: ['shipping.rates_place'],
    fault: {
      path: 'body/zone_id',
      message: 'must be sent for methods of kind "shipping", and for them alone'
    }
  }
)
defineError(
  'conflict',
  'SHIPPING_CARRIER_TAKEN',
  'A carrier with this code or name exists. Choose another one.',
  {
    constraints: ['shipping.carriers_code_once', 'shipping.carriers_name']
  }
)
defineError(
  'conflict',
  'SHIPPING_RATE_TAKEN',
  'The method has a rate for this zone and currency. Update that one.',
  {
    constraints: ['shipping.rates_once'],
    fault: { path: 'body/zone_id', message: 'must not be that of another rate of this method and currency' }
  }
)
defineError(
  'conflict',
  'SHIPPING_LABEL_EXISTS',
  'The shipment has a label. Void it before you create another one.',
  { constraints: ['shipping.labels_current'] }
)
