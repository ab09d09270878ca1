import { defineEvent } from '../../kernel/events.ts'
import { Type } from '../../kernel/schema.ts'
import { Id } from '../../kernel/wire.ts'

/** `auth.user_registered`: an account was made. */
export const userRegistered = defineEvent(
  'auth.user_registered',
  {
    description:
      'An account was made: by its owner, an administrator or a command; not by a token of another issuer.',
    subject: 'the user'
  },
  { user_id: Id, role: Type.Enum(['customer', 'admin']) }
)
