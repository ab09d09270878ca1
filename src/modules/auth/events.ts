import { defineEvent, defineJob } from '../../kernel/events.ts'
import { Type } from '../../kernel/schema.ts'
import { Id } from '../../kernel/wire.ts'

/** `auth.user_registered`: an account was made. */
export const userRegistered = defineEvent(
  'auth.user_registered',
  {
    description:
      'An account was made: by its owner, an administrator or a command; not by a token of another issuer.',
    subject: 'the user',
    outside: 'each'
  },
  { user_id: Id, role: Type.Enum(['customer', 'admin']) }
)

const ofUser = { user_id: Id }
const withToken = {
  user_id: Id,
  token_id: Type.String({
    format: 'uuid',
    description: 'What is to be sent, and where to, is asked of auth by it; it proves nothing.'
  })
}

/** `auth.verification_requested`: somebody is to prove that they read an address. */
export const verificationRequested = defineEvent(
  'auth.verification_requested',
  {
    description:
      'Somebody is to show that they read what is sent to an address: that of their account, or the one that it is to have.',
    subject: 'the user',
    outside: 'never'
  },
  withToken
)
/** `auth.password_reset_requested`: somebody has forgotten their password. */
export const passwordResetRequested = defineEvent(
  'auth.password_reset_requested',
  {
    description: 'Somebody who has an account says that its password is forgotten.',
    subject: 'the user',
    outside: 'never'
  },
  withToken
)
/** `auth.password_changed`: an account has another password. */
export const passwordChanged = defineEvent(
  'auth.password_changed',
  {
    description: 'An account has another password, set by its owner.',
    subject: 'the user',
    outside: 'never'
  },
  ofUser
)
/** `auth.api_key_created`: an administrator made an API key. */
export const apiKeyCreated = defineEvent(
  'auth.api_key_created',
  { description: 'An administrator made an API key for a machine.', subject: 'the user', outside: 'never' },
  { user_id: Id, api_key_id: Id, name: Type.String() }
)
/** `auth.second_factor_changed`: the second factor of an account is another one, or was used in a way that its owner should know of. */
export const secondFactorChanged = defineEvent(
  'auth.second_factor_changed',
  {
    description:
      'An administrator enrolled or removed a second factor, used a recovery code or replaced them, or an operator reset the factor.',
    subject: 'the user',
    outside: 'never'
  },
  {
    user_id: Id,
    change: Type.Enum(['enrolled', 'removed', 'reset', 'recovery_code_used', 'recovery_codes_replaced'])
  }
)
/** `auth.email_changed`: an account has another address. */
export const emailChanged = defineEvent(
  'auth.email_changed',
  {
    description: 'An account has another e-mail address, which is verified.',
    subject: 'the user',
    outside: 'each'
  },
  ofUser
)
/** `auth.user_deleted`: an account is gone. */
export const userDeleted = defineEvent(
  'auth.user_deleted',
  {
    description: 'An account was deleted: nobody is behind its id any more.',
    subject: 'the user',
    outside: 'each'
  },
  ofUser
)

export const eraseAgain = defineJob(
  'auth.erase_again',
  { description: 'Erases what somebody was still writing while their account was deleted.', seconds: 30 },
  ofUser
)

/** All that is told of accounts. */
export const authEvents = [
  userRegistered,
  verificationRequested,
  passwordResetRequested,
  passwordChanged,
  apiKeyCreated,
  secondFactorChanged,
  emailChanged,
  userDeleted
] as const
