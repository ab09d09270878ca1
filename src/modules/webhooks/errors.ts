import { defineError } from '../../kernel/errors.ts'

export const endpointNotFound = defineError(
  'not_found',
  'WEBHOOKS_ENDPOINT_NOT_FOUND',
  'There is no such endpoint.'
)
export const endpointStale = defineError(
  'stale',
  'WEBHOOKS_ENDPOINT_STALE',
  'The endpoint was changed in the meantime; read it again.'
)
export const endpointsLimit = defineError(
  'conflict',
  'WEBHOOKS_ENDPOINTS_LIMIT',
  'There are as many endpoints as there may be (webhooks.endpoints_max); "limit" says how many.'
)
export const endpointInactive = defineError(
  'conflict',
  'WEBHOOKS_ENDPOINT_INACTIVE',
  'Nothing is sent to an endpoint that is switched off or deleted; switch it on with PATCH and "active": true.'
)
export const urlRefused = defineError(
  'invalid',
  'WEBHOOKS_URL_REFUSED',
  'The shop sends webhooks over https to public addresses, and to hosts of http.private_hosts; "errors" says what is wrong.'
)
export const eventTypeUnknown = defineError(
  'invalid',
  'WEBHOOKS_EVENT_TYPE_UNKNOWN',
  'Webhooks tell no such event; "errors" says which.'
)
export const deliveryNotFound = defineError(
  'not_found',
  'WEBHOOKS_DELIVERY_NOT_FOUND',
  'There is no such delivery; it may be so old that it was deleted (webhooks.kept_days).'
)
export const replayTooLarge = defineError(
  'conflict',
  'WEBHOOKS_REPLAY_TOO_LARGE',
  'So much cannot be sent again at once; ask for what is newer. "limit" says how many, "found" how many there are.'
)
