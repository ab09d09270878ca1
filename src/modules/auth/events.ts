import { defineEvent, defineJob } from '../../kernel/events.ts'
import { Type } from '../../kernel/schema.ts'
import { Id } from '../../kernel/wire.ts'

/** `auth.user_registered`: an account was created. */
export const userRegisteredEvent = defineEvent(
  'auth.user_registered',
  {
    description:
      'An account was created by its owner, an administrator or a command. Not sent for users of external issuers.',
    subject: 'the user',
    webhook: 'all',
    unversioned: 'Accounts have no version.'
  },
  { user_id: Id, role: Type.Enum(['customer', 'admin']) }
)

const ofUser = { user_id: Id }
const withToken = {
  user_id: Id,
  token_id: Type.String({
    format: 'uuid',
    description:
      'Id of a one-time token. Auth returns the token and the recipient for it. It is not a secret.'
  })
}

/** `auth.verification_requested`: an e-mail address is to be verified. */
export const verificationRequestedEvent = defineEvent(
  'auth.verification_requested',
  {
    description: 'A user has to verify an e-mail address: that of the account, or its future one.',
    subject: 'the user',
    webhook: 'none'
  },
  withToken
)
/** `auth.password_reset_requested`: a reset token is to be mailed. */
export const passwordResetRequestedEvent = defineEvent(
  'auth.password_reset_requested',
  {
    description: 'A password reset was requested for an account.',
    subject: 'the user',
    webhook: 'none'
  },
  withToken
)
/** `auth.password_changed`: the owner of an account changed its password. */
export const passwordChangedEvent = defineEvent(
  'auth.password_changed',
  {
    description: 'The owner of an account changed its password.',
    subject: 'the user',
    webhook: 'none'
  },
  ofUser
)
/** `auth.api_key_created`: an administrator created an API key. */
export const apiKeyCreatedEvent = defineEvent(
  'auth.api_key_created',
  { description: 'An administrator created an API key.', subject: 'the user', webhook: 'none' },
  { user_id: Id, api_key_id: Id, name: Type.String() }
)
/** `auth.second_factor_changed`: the second factor of an account changed, or a recovery code was used. */
export const secondFactorChangedEvent = defineEvent(
  'auth.second_factor_changed',
  {
    description:
      'An administrator enrolled or removed a second factor, used or replaced recovery codes, or an operator reset the factor.',
    subject: 'the user',
    webhook: 'none'
  },
  {
    user_id: Id,
    change: Type.Enum(['enrolled', 'removed', 'reset', 'recovery_code_used', 'recovery_codes_replaced'])
  }
)
/** `auth.email_changed`: the e-mail address of an account changed. */
export const emailChangedEvent = defineEvent(
  'auth.email_changed',
  {
    description: 'The e-mail address of an account changed. The new one is verified.',
    subject: 'the user',
    webhook: 'all',
    unversioned: 'Accounts have no version.'
  },
  ofUser
)
/** `auth.user_deleted`: an account was deleted. */
export const userDeletedEvent = defineEvent(
  'auth.user_deleted',
  {
    description: 'An account and its personal data were deleted.',
    subject: 'the user',
    webhook: 'all',
    unversioned: 'Accounts have no version.'
  },
  ofUser
)

export const eraseLateUserDataJob = defineJob(
  'auth.erase_again',
  {
    description: 'Erases data that was written while the account was deleted.',
    timeoutSeconds: 30
  },
  ofUser
)

/** All events of the module. */
export const authEvents = [
  userRegisteredEvent,
  verificationRequestedEvent,
  passwordResetRequestedEvent,
  passwordChangedEvent,
  apiKeyCreatedEvent,
  secondFactorChangedEvent,
  emailChangedEvent,
  userDeletedEvent
] as const
