import { defineError } from '../../kernel/errors.ts'
import type { Fault } from '../../kernel/faults.ts'

export const registrationClosed = defineError(
  'forbidden',
  'AUTH_REGISTRATION_CLOSED',
  'This shop does not take registrations.'
)
export const INVITATION_FAULT: Fault = {
  path: 'body/invitation',
  message: 'must be a code that is not used and not expired'
}
export const invitationRequired = defineError(
  'forbidden',
  'AUTH_INVITATION_REQUIRED',
  'Registration needs an invitation code that is known, unused and not expired.',
  { fault: INVITATION_FAULT }
)
export const invitationNotFound = defineError(
  'not_found',
  'AUTH_INVITATION_NOT_FOUND',
  'There is no such invitation.'
)
export const EMAIL_FAULT: Fault = {
  path: 'body/email',
  message: 'must be an e-mail address, such as ada@example.com'
}
export const emailInvalid = defineError('invalid', 'AUTH_EMAIL_INVALID', 'This is not an e-mail address.', {
  fault: EMAIL_FAULT
})
export const DOMAIN_FAULT: Fault = {
  path: 'body/email',
  message: 'must be an address of a domain that may register here'
}
export const emailDomainNotAllowed = defineError(
  'forbidden',
  'AUTH_EMAIL_DOMAIN_NOT_ALLOWED',
  'Addresses of this domain cannot register here.',
  { fault: DOMAIN_FAULT }
)
export const emailTaken = defineError(
  'conflict',
  'AUTH_EMAIL_TAKEN',
  'There is an account with this e-mail address; log in instead.',
  {
    constraints: ['auth.users_email_unique'],
    fault: { path: 'body/email', message: 'has an account here already' }
  }
)
export const passwordTooWeak = defineError(
  'invalid',
  'AUTH_PASSWORD_TOO_WEAK',
  'This password is too easy to guess; "reason" says why.'
)
export const invalidCredentials = defineError(
  'unauthenticated',
  'AUTH_INVALID_CREDENTIALS',
  'E-mail address or password is wrong.'
)
export const tooManyFailures = defineError(
  'rate_limited',
  'AUTH_TOO_MANY_FAILURES',
  'Too many failed attempts for this account from here; wait before the next one.'
)
export const busy = defineError(
  'unavailable',
  'AUTH_BUSY',
  'Too many passwords are being checked at the moment; try again shortly.'
)
export const invalidRefreshToken = defineError(
  'unauthenticated',
  'AUTH_INVALID_REFRESH_TOKEN',
  'The refresh token is unknown, expired, revoked or was used before; log in again.'
)
export const emailNotVerified = defineError(
  'forbidden',
  'AUTH_EMAIL_NOT_VERIFIED',
  'This account is used once its e-mail address is verified; a message was sent there.'
)
export const phoneInvalid = defineError('invalid', 'AUTH_PHONE_INVALID', 'This is not a phone number.', {
  fault: { path: 'body/phone', message: 'must be a phone number with + and the code of its country' }
})
export const LOCALE_FAULT: Fault = {
  path: 'body/locale',
  message: 'must be a language, with or without a country, such as sv-SE'
}
export const localeInvalid = defineError('invalid', 'AUTH_LOCALE_INVALID', 'This is not a locale.', {
  fault: LOCALE_FAULT
})
export const addressInvalid = defineError(
  'invalid',
  'AUTH_ADDRESS_INVALID',
  'This address lacks something, or is wrong; "errors" says what.'
)
export const addressLimit = defineError(
  'conflict',
  'AUTH_ADDRESS_LIMIT',
  'This account has as many addresses as it may have.'
)
export const addressNotFound = defineError(
  'not_found',
  'AUTH_ADDRESS_NOT_FOUND',
  'There is no such address of yours.'
)
export const addressStale = defineError(
  'stale',
  'AUTH_ADDRESS_STALE',
  'The address was changed in the meantime; read it again.'
)
export const confirmationRequired = defineError(
  'invalid',
  'AUTH_CONFIRMATION_REQUIRED',
  'An account without a password is deleted with "confirm": true.',
  { fault: { path: 'body/confirm', message: 'must be true' } }
)
export const userNotFound = defineError('not_found', 'AUTH_USER_NOT_FOUND', 'There is no such user.')
export const lastAdmin = defineError(
  'conflict',
  'AUTH_LAST_ADMIN',
  'This is the last administrator with all rights; make another one first.',
  { mayPass: true }
)
export const secondFactorRequired = defineError(
  'unauthenticated',
  'AUTH_SECOND_FACTOR_REQUIRED',
  'The password is right, and this account has a second factor. Send "challenge" and a code to POST /api/auth/login/second-factor.',
  { mayPass: true }
)
export const secondFactorInvalid = defineError(
  'unauthenticated',
  'AUTH_SECOND_FACTOR_INVALID',
  'The code is wrong, too old, or was used before. Wait for the next one, or send a recovery code.',
  { mayPass: true }
)
export const challengeEnded = defineError(
  'unauthenticated',
  'AUTH_CHALLENGE_ENDED',
  'This challenge is unknown, answered, expired, or failed too often. Log in again.'
)
export const secondFactorCodeWrong = defineError(
  'invalid',
  'AUTH_SECOND_FACTOR_CODE_WRONG',
  'This is not the code of this secret at this time. Check the clock of the device, and send the code that it shows now.',
  { fault: { path: 'body/code', message: 'must be the code that the app shows now' } }
)
export const secondFactorEnrolled = defineError(
  'conflict',
  'AUTH_SECOND_FACTOR_ENROLLED',
  'This account has a second factor. Remove it before you enrol another one.',
  { mayPass: true }
)
export const secondFactorNotEnrolled = defineError(
  'conflict',
  'AUTH_SECOND_FACTOR_NOT_ENROLLED',
  'This account has no second factor. Enrol one at /api/auth/second-factor.',
  { mayPass: true }
)
export const secondFactorNotBegun = defineError(
  'conflict',
  'AUTH_SECOND_FACTOR_NOT_BEGUN',
  'There is no secret to confirm. Begin with POST /api/auth/second-factor.',
  { mayPass: true }
)
export const secondFactorExternal = defineError(
  'conflict',
  'AUTH_SECOND_FACTOR_EXTERNAL',
  'This account logs in at another issuer. Use its second factor there.'
)
export const apiKeyInvalid = defineError(
  'unauthenticated',
  'AUTH_INVALID_API_KEY',
  'The API key is unknown, expired or revoked, or its owner is no administrator any more.'
)
export const apiKeyNotFound = defineError(
  'not_found',
  'AUTH_API_KEY_NOT_FOUND',
  'There is no such API key of yours.'
)
export const apiKeyScopes = defineError(
  'forbidden',
  'AUTH_API_KEY_SCOPES',
  'A key may do what you may, and no more; "missing" says which scopes you do not have.'
)
export const apiKeyLimit = defineError(
  'conflict',
  'AUTH_API_KEY_LIMIT',
  'This administrator has as many API keys as they may have.'
)
export const oneTimeTokenInvalid = defineError(
  'invalid',
  'AUTH_ONE_TIME_TOKEN_INVALID',
  'This token is unknown, was used, has expired, or a later message took its place; ask for another one.',
  { fault: { path: 'body/token', message: 'must be the token of the latest message, not used yet' } }
)
export const emailAlreadyVerified = defineError(
  'conflict',
  'AUTH_EMAIL_VERIFIED',
  'This account has no e-mail address that is still to be verified.'
)
export const tooManyMessages = defineError(
  'rate_limited',
  'AUTH_TOO_MANY_MESSAGES',
  'This address was sent enough messages for now; look whether one of them has arrived.'
)
export const sessionNotFound = defineError('not_found', 'AUTH_SESSION_NOT_FOUND', 'There is no such session.')
export const invalidToken = defineError(
  'unauthenticated',
  'AUTH_INVALID_TOKEN',
  'The access token is malformed, expired, revoked or not from an issuer trusted here.'
)
export const issuerUnavailable = defineError(
  'unavailable',
  'AUTH_ISSUER_UNAVAILABLE',
  'The issuer of this token cannot be asked for its keys at the moment; try again shortly.'
)
