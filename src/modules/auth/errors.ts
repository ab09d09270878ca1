import { defineError } from '../../kernel/errors.ts'
import type { FieldFault } from '../../kernel/faults.ts'

export const registrationClosedError = defineError(
  'forbidden',
  'AUTH_REGISTRATION_CLOSED',
  'This shop does not accept registrations. Ask an administrator for an account.'
)
export const INVALID_INVITATION_FAULT: FieldFault = {
  path: 'body/invitation',
  message: 'must be a code that is not used and not expired'
}
export const invitationRequiredError = defineError(
  'forbidden',
  'AUTH_INVITATION_REQUIRED',
  'Registration requires a valid, unused invitation code. Ask the shop for one.',
  { fault: INVALID_INVITATION_FAULT }
)
export const invitationNotFoundError = defineError(
  'not_found',
  'AUTH_INVITATION_NOT_FOUND',
  'The invitation does not exist.'
)
export const INVALID_EMAIL_FAULT: FieldFault = {
  path: 'body/email',
  message: 'must be an e-mail address, such as ada@example.com'
}
export const emailInvalidError = defineError(
  'invalid',
  'AUTH_EMAIL_INVALID',
  'The e-mail address is not valid. Correct it.',
  {
    fault: INVALID_EMAIL_FAULT
  }
)
export const FORBIDDEN_EMAIL_DOMAIN_FAULT: FieldFault = {
  path: 'body/email',
  message: 'must be an address of a domain that may register here'
}
export const emailDomainNotAllowedError = defineError(
  'forbidden',
  'AUTH_EMAIL_DOMAIN_NOT_ALLOWED',
  'E-mail addresses of this domain cannot register. Use another address.',
  { fault: FORBIDDEN_EMAIL_DOMAIN_FAULT }
)
export const emailTakenError = defineError(
  'conflict',
  'AUTH_EMAIL_TAKEN',
  'An account with this e-mail address exists. Log in instead.',
  {
    constraints: ['auth.users_email_unique'],
    fault: { path: 'body/email', message: 'has an account here already' }
  }
)
export const passwordTooWeakError = defineError(
  'invalid',
  'AUTH_PASSWORD_TOO_WEAK',
  'The password is too easy to guess. `reason` explains why. Choose another one.'
)
export const invalidCredentialsError = defineError(
  'unauthenticated',
  'AUTH_INVALID_CREDENTIALS',
  'The e-mail address or the password is wrong.'
)
export const tooManyFailedAttemptsError = defineError(
  'rate_limited',
  'AUTH_TOO_MANY_FAILURES',
  'Too many failed attempts for this account from your network. Wait before the next one.'
)
export const passwordChecksBusyError = defineError(
  'unavailable',
  'AUTH_BUSY',
  'Too many passwords are being checked. Try again shortly.'
)
export const invalidRefreshTokenError = defineError(
  'unauthenticated',
  'AUTH_INVALID_REFRESH_TOKEN',
  'The refresh token is unknown, expired, revoked or was used before. Log in again.'
)
export const emailNotVerifiedError = defineError(
  'forbidden',
  'AUTH_EMAIL_NOT_VERIFIED',
  'The e-mail address of this account is not verified. Follow the link in the mail that was sent there.'
)
export const phoneInvalidError = defineError(
  'invalid',
  'AUTH_PHONE_INVALID',
  'The phone number is not valid. Send it with + and the country code.',
  {
    fault: { path: 'body/phone', message: 'must be a phone number with + and the code of its country' }
  }
)
export const INVALID_LOCALE_FAULT: FieldFault = {
  path: 'body/locale',
  message: 'must be a language, with or without a country, such as sv-SE'
}
export const localeInvalidError = defineError(
  'invalid',
  'AUTH_LOCALE_INVALID',
  'The locale is not valid. Send a language tag such as sv-SE.',
  {
    fault: INVALID_LOCALE_FAULT
  }
)
export const addressInvalidError = defineError(
  'invalid',
  'AUTH_ADDRESS_INVALID',
  'The address is incomplete or invalid. `errors` names the fields.'
)
export const addressLimitReachedError = defineError(
  'conflict',
  'AUTH_ADDRESS_LIMIT',
  'The account has the maximum number of addresses. Remove one first.'
)
export const addressNotFoundError = defineError(
  'not_found',
  'AUTH_ADDRESS_NOT_FOUND',
  'The address does not exist, or belongs to another account.'
)
export const addressStaleError = defineError(
  'stale',
  'AUTH_ADDRESS_STALE',
  'The address was changed in the meantime. Read it again.'
)
export const accountDeletionConfirmationRequiredError = defineError(
  'invalid',
  'AUTH_CONFIRMATION_REQUIRED',
  'To delete an account without a password, send `confirm`: true.',
  { fault: { path: 'body/confirm', message: 'must be true' } }
)
export const userNotFoundError = defineError('not_found', 'AUTH_USER_NOT_FOUND', 'The user does not exist.')
export const lastAdminMustRemainError = defineError(
  'conflict',
  'AUTH_LAST_ADMIN',
  'This is the last administrator with full access. Create another one first.',
  { mayPass: true }
)
export const secondFactorRequiredError = defineError(
  'unauthenticated',
  'AUTH_SECOND_FACTOR_REQUIRED',
  'A second factor is required. Send `challenge` and a code to POST /api/auth/login/second-factor.',
  { mayPass: true }
)
export const secondFactorLoginCodeInvalidError = defineError(
  'unauthenticated',
  'AUTH_SECOND_FACTOR_INVALID',
  'The code is wrong, too old, or was used before. Wait for the next one, or send a recovery code.',
  { mayPass: true }
)
export const loginChallengeEndedError = defineError(
  'unauthenticated',
  'AUTH_CHALLENGE_ENDED',
  'The challenge is unknown, used, expired, or failed too often. Log in again.'
)
export const secondFactorEnrolmentCodeInvalidError = defineError(
  'invalid',
  'AUTH_SECOND_FACTOR_CODE_WRONG',
  'The code is wrong. Check the clock of the device, and send the current code.',
  { fault: { path: 'body/code', message: 'must be the code that the app shows now' } }
)
export const secondFactorAlreadyEnrolledError = defineError(
  'conflict',
  'AUTH_SECOND_FACTOR_ENROLLED',
  'This account has a second factor. Remove it before you enrol another one.',
  { mayPass: true }
)
export const secondFactorNotEnrolledError = defineError(
  'conflict',
  'AUTH_SECOND_FACTOR_NOT_ENROLLED',
  'This account has no second factor. Enrol one at /api/auth/second-factor.',
  { mayPass: true }
)
export const secondFactorEnrolmentNotStartedError = defineError(
  'conflict',
  'AUTH_SECOND_FACTOR_NOT_BEGUN',
  'There is no secret to confirm. Create one with POST /api/auth/second-factor.',
  { mayPass: true }
)
export const secondFactorManagedByIssuerError = defineError(
  'conflict',
  'AUTH_SECOND_FACTOR_EXTERNAL',
  'The account logs in at an external issuer. Use the second factor of that issuer.'
)
export const apiKeyInvalidError = defineError(
  'unauthenticated',
  'AUTH_INVALID_API_KEY',
  'The API key is unknown, expired or revoked, or its owner is no longer an administrator.'
)
export const apiKeyNotFoundError = defineError(
  'not_found',
  'AUTH_API_KEY_NOT_FOUND',
  'The API key does not exist, or belongs to another account.'
)
export const apiKeyScopesNotAllowedError = defineError(
  'forbidden',
  'AUTH_API_KEY_SCOPES',
  'An API key cannot have scopes that you lack. `missing` lists them.'
)
export const apiKeyLimitReachedError = defineError(
  'conflict',
  'AUTH_API_KEY_LIMIT',
  'The administrator has the maximum number of API keys. Revoke one first.'
)
export const oneTimeTokenInvalidError = defineError(
  'invalid',
  'AUTH_ONE_TIME_TOKEN_INVALID',
  'The token is unknown, used, expired, or replaced by a newer one. Request another mail.',
  { fault: { path: 'body/token', message: 'must be the token of the latest message, not used yet' } }
)
export const emailAlreadyVerifiedError = defineError(
  'conflict',
  'AUTH_EMAIL_VERIFIED',
  'The account has no e-mail address to verify.'
)
export const tooManyAuthMailsError = defineError(
  'rate_limited',
  'AUTH_TOO_MANY_MESSAGES',
  'Too many mails were sent to this address. Use one that has arrived, or wait.'
)
export const sessionNotFoundError = defineError(
  'not_found',
  'AUTH_SESSION_NOT_FOUND',
  'The session does not exist, or belongs to another account.'
)
export const invalidAccessTokenError = defineError(
  'unauthenticated',
  'AUTH_INVALID_TOKEN',
  'The access token is malformed, expired, revoked, or from an unknown issuer. Refresh it or log in again.'
)
export const tokenIssuerUnavailableError = defineError(
  'unavailable',
  'AUTH_ISSUER_UNAVAILABLE',
  "The keys of the token's issuer cannot be loaded. Try again shortly."
)
