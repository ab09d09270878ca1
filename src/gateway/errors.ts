import { defineError } from '../kernel/errors.ts'

export const malformedJsonError = defineError(
  'invalid',
  'MALFORMED_JSON',
  'The body is not JSON that can be accepted.'
)
export const validationFailedError = defineError(
  'invalid',
  'VALIDATION_FAILED',
  'The request does not fit its schema.'
)
export const malformedRequestError = defineError(
  'invalid',
  'MALFORMED_REQUEST',
  'The request cannot be understood.'
)
export const missingHostError = defineError('invalid', 'MISSING_HOST', 'The request lacks the header Host.')
// PostgreSQL cannot store NUL.
export const nulInUrlError = defineError('invalid', 'NUL_IN_URL', 'The URL contains the character NUL.')
export const malformedIfMatchError = defineError(
  'invalid',
  'MALFORMED_IF_MATCH',
  'If-Match must be one ETag of this resource, such as "7", or *.',
  { fault: { path: 'headers/if-match', message: 'must be one ETag, such as "7", or *' } }
)
export const clientNotDevelopmentPeerError = defineError(
  'forbidden',
  'DEVELOPMENT_PEER_REQUIRED',
  'This page is shown to clients on this machine only. Add the address of others to server.development_peers.'
)
export const clientSecretNotTrustedError = defineError(
  'forbidden',
  'CLIENT_NOT_TRUSTED',
  'X-Cartwright-Client is not one of the secrets in server.trusted_clients; X-Shopper-Address needs one.'
)
export const malformedShopperAddressError = defineError(
  'invalid',
  'MALFORMED_SHOPPER_ADDRESS',
  'X-Shopper-Address must be the one IP address of the shopper, without a port.',
  { fault: { path: 'headers/x-shopper-address', message: 'must be one IP address without a port' } }
)
export const malformedIdempotencyKeyError = defineError(
  'invalid',
  'MALFORMED_IDEMPOTENCY_KEY',
  'Idempotency-Key must be 1 to 255 visible ASCII characters.',
  { fault: { path: 'headers/idempotency-key', message: 'must be 1 to 255 visible ASCII characters' } }
)
export const idempotencyKeyReusedError = defineError(
  'reused_key',
  'IDEMPOTENCY_KEY_REUSED',
  'This Idempotency-Key was used before with another request; use a new key for a new request.'
)
export const guessableIdempotencyKeyError = defineError(
  'invalid',
  'GUESSABLE_IDEMPOTENCY_KEY',
  'Without an account or a token of your own, Idempotency-Key must be hard to guess: send a random UUID.',
  { fault: { path: 'headers/idempotency-key', message: 'must be hard to guess, such as a random UUID' } }
)
export const rateLimitedError = defineError('rate_limited', 'RATE_LIMITED', 'Too many requests; slow down.')
export const overloadedError = defineError(
  'unavailable',
  'OVERLOADED',
  'The server is overloaded; try again shortly.'
)
