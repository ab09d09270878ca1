import { defineError } from '../../kernel/errors.ts'

export const webhookEndpointNotFoundError = defineError(
  'not_found',
  'WEBHOOKS_ENDPOINT_NOT_FOUND',
  'There is no such endpoint.'
)
export const webhookEndpointStaleError = defineError(
  'stale',
  'WEBHOOKS_ENDPOINT_STALE',
  'The endpoint has changed since you read it. Read it again.'
)
export const webhookEndpointLimitReachedError = defineError(
  'conflict',
  'WEBHOOKS_ENDPOINTS_LIMIT',
  'The number of endpoints has reached "limit" (webhooks.endpoints_max). Delete one, or raise the limit.'
)
export const webhookEndpointInactiveError = defineError(
  'conflict',
  'WEBHOOKS_ENDPOINT_INACTIVE',
  'The endpoint is disabled or deleted. Enable it with PATCH and "active": true.'
)
export const webhookUrlRefusedError = defineError(
  'invalid',
  'WEBHOOKS_URL_REFUSED',
  'Webhooks are sent over https to public addresses or hosts of http.private_hosts only. Correct what "errors" lists.'
)
export const webhookEventTypeUnknownError = defineError(
  'invalid',
  'WEBHOOKS_EVENT_TYPE_UNKNOWN',
  'Some event types do not exist or are not sent by webhook. Correct what "errors" lists.'
)
export const webhookDeliveryNotFoundError = defineError(
  'not_found',
  'WEBHOOKS_DELIVERY_NOT_FOUND',
  'There is no such delivery. It may be deleted because of its age (webhooks.retention_days).'
)
export const webhookReplayTooLargeError = defineError(
  'conflict',
  'WEBHOOKS_REPLAY_TOO_LARGE',
  'The period has "found" deliveries, more than "limit". Send a later "since".'
)
