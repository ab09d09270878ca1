import { legacyEmailKey } from '../../../kernel/email.ts'
import { found } from '../../../kernel/errors.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import {
  emailAlreadyVerifiedError,
  invalidAccessTokenError,
  invalidCredentialsError,
  oneTimeTokenInvalidError
} from '../errors.ts'
import { emailChangedEvent, verificationRequestedEvent } from '../events.ts'
import { deleteUserOneTimeTokenOfPurpose, findEmailOfOneTimeToken } from '../one-time-tokens/repository.ts'
import type { OneTimeTokenService } from '../one-time-tokens/service.ts'
import type { PasswordCheckingService } from '../passwords/service.ts'
import type { AuthSettings } from '../settings.ts'
import { findEmailDomainError, requireValidEmail } from '../users/email-rules.ts'
import * as users from '../users/repository.ts'
import * as repository from './repository.ts'
import type { ChangeEmailRequest } from './schema.ts'

export type EmailVerificationServiceDeps = {
  db: Database
  emit: Emit
  tokens: OneTimeTokenService
  passwords: PasswordCheckingService
  settings: AuthSettings
}

const HOUR_SECONDS = 3_600

/** Verifies e-mail addresses and changes them. */
export function createEmailVerificationService({
  db,
  emit,
  tokens,
  passwords,
  settings
}: EmailVerificationServiceDeps) {
  const seconds = settings.verification_hours * HOUR_SECONDS

  /** Issues a token for this address and emits the event for the mail. */
  async function request(tx: Transaction, id: string, userId: string, email: string): Promise<void> {
    if (await tokens.issue(tx, { id, userId, purpose: 'email', email, seconds }))
      emit(tx, verificationRequestedEvent, userId, { user_id: userId, token_id: id })
  }

  return {
    /** Requests verification, unless the address has received the maximum number of mails of this hour. */
    async requestFirst(
      tx: Transaction,
      id: string,
      user: { id: string; email: string | null }
    ): Promise<void> {
      if (user.email !== null && (await tokens.charge(tx, 'verify', user.email)))
        await request(tx, id, user.id, user.email)
    },

    /**
     * Verifies the address of the token, which becomes that of the account if it is a new one.
     * @throws `AUTH_ONE_TIME_TOKEN_INVALID`, and `AUTH_EMAIL_TAKEN` when another account got the address in the meantime.
     */
    async verify(text: string, write: IdempotentWrite): Promise<void> {
      const id = tokens.idIn('email', text)
      await write.once(db, async tx => {
        const user = found(await tx.first(repository.verifyEmail, { id }), oneTimeTokenInvalidError)
        if (!user.is_changed) return
        // Reset tokens in the old mailbox become invalid.
        await tx.run(deleteUserOneTimeTokenOfPurpose, { userId: user.id, purpose: 'password' })
        emit(tx, emailChangedEvent, user.id, { user_id: user.id })
      })
    },

    /**
     * Requests verification again, of the pending new address if there is one.
     * @throws `AUTH_EMAIL_VERIFIED` when nothing is pending, `AUTH_TOO_MANY_MESSAGES`.
     */
    async requestAgain(
      { userId }: { userId: string },
      write: IdempotentWrite
    ): Promise<{ expires_in: number }> {
      await write.once(db, async tx => {
        const user = found(await tx.first(users.findUser, { id: userId }), invalidAccessTokenError)
        const pending = await tx.first(findEmailOfOneTimeToken, { userId, purpose: 'email' })
        const email = pending?.email ?? (user.email_verified ? null : user.email)
        if (email === null) throw emailAlreadyVerifiedError()
        await tokens.requireCharge(tx, email === user.email ? 'verify' : 'change', email)
        if (email === user.email || !(await isTaken(tx, email))) await request(tx, write.id, userId, email)
      })
      return { expires_in: seconds }
    },

    /**
     * Requests a change to this address, which takes effect once it is verified. The response is the same if another account
     * has the address, but no mail is sent. The current address cancels a pending change.
     * @throws `AUTH_INVALID_CREDENTIALS`, `AUTH_EMAIL_INVALID`, `AUTH_TOO_MANY_MESSAGES` and others.
     */
    async change(
      { userId }: { userId: string },
      body: ChangeEmailRequest,
      write: IdempotentWrite
    ): Promise<{ expires_in: number }> {
      if (write.alreadyApplied) return { expires_in: seconds }
      const email = requireValidEmail(body.email)
      const refusal = findEmailDomainError(settings, email)
      if (refusal !== undefined) throw refusal
      const user = found(await db.first(users.findUser, { id: userId }), invalidAccessTokenError)
      const { password_hash: hash } = await passwords.verifyOwn(user, body.password, {
        path: 'body/password',
        withoutSlot: write.withoutSlot
      })
      await write.once(db, async tx => {
        found(
          await tx.first(repository.lockUserIfPasswordUnchanged, { userId, hash: hash ?? '' }),
          invalidCredentialsError
        )
        if (email === user.email) {
          await tx.run(deleteUserOneTimeTokenOfPurpose, { userId, purpose: 'email' })
          return
        }
        await tokens.requireCharge(tx, 'change', email)
        if (!(await isTaken(tx, email))) return request(tx, write.id, userId, email)
        // Does the same work for an address of another account, so that timing reveals nothing. The token is
        // not mailed.
        await tokens.issue(tx, { id: write.id, userId, purpose: 'email', email, seconds })
      })
      return { expires_in: seconds }
    }
  }
}
export type EmailVerificationService = ReturnType<typeof createEmailVerificationService>

const isTaken = async (tx: Transaction, email: string): Promise<boolean> =>
  (await tx.first(users.findUserWithPasswordByEmail, { email, folded: legacyEmailKey(email) })) !== undefined
