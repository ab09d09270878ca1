import { foldEmail } from '../../../kernel/email.ts'
import { found } from '../../../kernel/errors.ts'
import type { Write } from '../../../platform/idempotency/write.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { domainRefusal, emailOf } from '../accounts/registration.ts'
import * as users from '../accounts/repository.ts'
import { emailAlreadyVerified, invalidCredentials, invalidToken, oneTimeTokenInvalid } from '../errors.ts'
import { emailChanged, verificationRequested } from '../events.ts'
import { deleteTokenOf, findTokenOf } from '../one-time-tokens/repository.ts'
import type { OneTimeTokens } from '../one-time-tokens/service.ts'
import type { Passwords } from '../passwords/service.ts'
import type { AuthSettings } from '../settings.ts'
import * as repository from './repository.ts'
import type { ChangeEmailRequest } from './schema.ts'

export type VerificationDeps = {
  db: Database
  emit: Emit
  tokens: OneTimeTokens
  passwords: Passwords
  settings: AuthSettings
}

const HOUR_SECONDS = 3_600

/** Whether somebody reads what is sent to their address, and how they get another one. */
export function createVerification({ db, emit, tokens, passwords, settings }: VerificationDeps) {
  const seconds = settings.verification_hours * HOUR_SECONDS

  /** Makes a token for this address, and says so to whoever sends it. */
  async function request(tx: Transaction, id: string, userId: string, email: string): Promise<void> {
    if (await tokens.issue(tx, { id, userId, purpose: 'email', email, seconds }))
      emit(tx, verificationRequested, userId, { user_id: userId, token_id: id })
  }

  return {
    /** Asks as often as its address may be asked in an hour. */
    async requestFirst(
      tx: Transaction,
      id: string,
      user: { id: string; email: string | null }
    ): Promise<void> {
      if (user.email !== null && (await tokens.charge(tx, 'verify', user.email)))
        await request(tx, id, user.id, user.email)
    },

    /**
     * Believes that whoever shows the token reads its address, which becomes that of the account if it is a new one.
     * @throws `AUTH_ONE_TIME_TOKEN_INVALID`, and `AUTH_EMAIL_TAKEN` when somebody made an account with it meanwhile.
     */
    async verify(text: string, write: Write): Promise<void> {
      const id = tokens.idIn('email', text)
      await write.once(db, async tx => {
        const user = found(await tx.first(repository.verifyEmail, { id }), oneTimeTokenInvalid)
        if (!user.is_changed) return
        // What was sent to the old address lets nobody in any more.
        await tx.run(deleteTokenOf, { userId: user.id, purpose: 'password' })
        emit(tx, emailChanged, user.id, { user_id: user.id })
      })
    },

    /**
     * Asks again, for the new address where there is one that waits.
     * @throws `AUTH_EMAIL_VERIFIED` when nothing waits, `AUTH_TOO_MANY_MESSAGES`.
     */
    async requestAgain({ userId }: { userId: string }, write: Write): Promise<{ expires_in: number }> {
      await write.once(db, async tx => {
        const user = found(await tx.first(users.findUser, { id: userId }), invalidToken)
        const pending = await tx.first(findTokenOf, { userId, purpose: 'email' })
        const email = pending?.email ?? (user.email_verified ? null : user.email)
        if (email === null) throw emailAlreadyVerified()
        await tokens.requireCharge(tx, email === user.email ? 'verify' : 'change', email)
        if (email === user.email || !(await isTaken(tx, email))) await request(tx, write.id, userId, email)
      })
      return { expires_in: seconds }
    },

    /**
     * Asks whether the caller reads this address, which then becomes theirs. One that somebody else has is answered the
     * same, and nothing is sent there. The present one again gives a change up that waits.
     * @throws `AUTH_INVALID_CREDENTIALS`, `AUTH_EMAIL_INVALID`, `AUTH_TOO_MANY_MESSAGES` and others.
     */
    async change(
      { userId }: { userId: string },
      body: ChangeEmailRequest,
      write: Write
    ): Promise<{ expires_in: number }> {
      if (write.alreadyApplied) return { expires_in: seconds }
      const email = emailOf(body.email)
      const refusal = domainRefusal(settings, email)
      if (refusal !== undefined) throw refusal
      const user = found(await db.first(users.findUser, { id: userId }), invalidToken)
      const { password_hash: hash } = await passwords.proveOwn(user, body.password, {
        path: 'body/password',
        withoutSlot: write.withoutSlot
      })
      await write.once(db, async tx => {
        found(await tx.first(repository.lockPassword, { userId, hash: hash ?? '' }), invalidCredentials)
        if (email === user.email) {
          await tx.run(deleteTokenOf, { userId, purpose: 'email' })
          return
        }
        await tokens.requireCharge(tx, 'change', email)
        if (!(await isTaken(tx, email))) return request(tx, write.id, userId, email)
        // The same work, and a token that nobody is told.
        await tokens.issue(tx, { id: write.id, userId, purpose: 'email', email, seconds })
      })
      return { expires_in: seconds }
    }
  }
}
export type Verification = ReturnType<typeof createVerification>

const isTaken = async (tx: Transaction, email: string): Promise<boolean> =>
  (await tx.first(users.findLogin, { email, folded: foldEmail(email) })) !== undefined
