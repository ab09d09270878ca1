import { legacyEmailKey, normalizeEmail } from '../../../kernel/email.ts'
import { found } from '../../../kernel/errors.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { deleteApiKeysOfUser } from '../api-keys/repository.ts'
import { oneTimeTokenInvalidError } from '../errors.ts'
import { passwordChangedEvent, passwordResetRequestedEvent } from '../events.ts'
import {
  deleteOneTimeTokensAfterPasswordChange,
  findOneTimeTokenById
} from '../one-time-tokens/repository.ts'
import type { OneTimeTokenService } from '../one-time-tokens/service.ts'
import type { RequireStrongPassword } from '../passwords/policy.ts'
import type { PasswordCheckingService } from '../passwords/service.ts'
import type { SessionService } from '../sessions/service.ts'
import * as users from '../users/repository.ts'
import * as repository from './repository.ts'
import type { ResetPasswordRequest } from './schema.ts'

export type PasswordResetDeps = {
  db: Database
  emit: Emit
  tokens: OneTimeTokenService
  passwords: PasswordCheckingService
  requirePassword: RequireStrongPassword
  sessions: SessionService
  resetMinutes: number
}

const MINUTE_SECONDS = 60

/** Resets forgotten passwords. */
export function createPasswordResetService(deps: PasswordResetDeps) {
  const { db, emit, tokens, passwords, requirePassword, sessions } = deps
  const seconds = deps.resetMinutes * MINUTE_SECONDS

  return {
    /**
     * Sends a reset token if an account has this address. The response and the statements are the same if none has, so that
     * they do not reveal accounts.
     */
    async request(given: string, write: IdempotentWrite): Promise<{ expires_in: number }> {
      const email = normalizeEmail(given)
      const { id } = write
      await write.once(db, async tx => {
        const isAllowed = await tokens.charge(tx, 'password', email)
        const user = await tx.first(users.findUserWithPasswordByEmail, {
          email,
          folded: legacyEmailKey(given)
        })
        const userId = (isAllowed ? user?.id : undefined) ?? id
        const address = user?.email ?? email
        if (await tokens.issue(tx, { id, userId, purpose: 'password', email: address, seconds }))
          emit(tx, passwordResetRequestedEvent, userId, { user_id: userId, token_id: id })
      })
      return { expires_in: seconds }
    },

    /**
     * Sets a new password, revokes all API keys and ends all sessions.
     * @throws `AUTH_ONE_TIME_TOKEN_INVALID`, `AUTH_PASSWORD_TOO_WEAK`, `AUTH_BUSY`.
     */
    async reset(
      { token, password }: ResetPasswordRequest,
      network: string,
      write: IdempotentWrite
    ): Promise<void> {
      if (write.alreadyApplied) return
      const id = tokens.idIn('password', token)
      // The token is checked first, because hashing is expensive.
      const { email, user_id } = found(await db.first(findOneTimeTokenById, { id }), oneTimeTokenInvalidError)
      requirePassword(password, email)
      const hash = await passwords.hash(password, write.withoutSlot)
      await write.once(db, async tx => {
        found(await tx.first(repository.resetPassword, { id, hash }), oneTimeTokenInvalidError)
        await tx.run(deleteOneTimeTokensAfterPasswordChange, { userId: user_id })
        await tx.run(deleteApiKeysOfUser, { userId: user_id })
        await sessions.endAll(tx, user_id, null)
        emit(tx, passwordChangedEvent, user_id, { user_id })
      })
      await passwords.remember(user_id, network)
    }
  }
}
export type PasswordResetService = ReturnType<typeof createPasswordResetService>
