import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import { oneTimeTokenInvalidError, tooManyAuthMailsError } from '../errors.ts'
import { hashSecret } from '../passwords/random-secrets.ts'
import { chargeLoginAttemptBudget } from '../passwords/repository.ts'
import * as repository from './repository.ts'
import { createOneTimeTokenCodec, type OneTimeTokenPurpose } from './tokens.ts'

/** A one-time token, and the address to which it is mailed. */
export type OneTimeToken = {
  token: string
  email: string
  purpose: 'verify_email' | 'change_email' | 'reset_password'
  expiresAt: Date
}
/**
 * Why a mail is sent. Each reason has its own budget per address, so that requests to verify or change to another user's
 * address cannot block that user's password reset.
 */
type MessageReason = 'verify' | 'change' | 'password'
export type OneTimeTokenDeps = { db: Database; secrets: Secrets; messagesPerHour: number }

const HOUR_SECONDS = 3_600
const ROUNDING_SECONDS = 0.001 // sums of fractions are not exact

export function createOneTimeTokenService({ db, secrets, messagesPerHour }: OneTimeTokenDeps) {
  const { textOf, idIn } = createOneTimeTokenCodec(secrets)

  /** Charges a mail to this address, with or without an account. Returns false when its budget is exhausted. */
  async function charge(tx: Transaction, reason: MessageReason, email: string): Promise<boolean> {
    const key = hashSecret(secrets.mac('auth.message', reason, email))
    const budget = { key, cost: HOUR_SECONDS / messagesPerHour, max: HOUR_SECONDS + ROUNDING_SECONDS }
    return (await tx.first(chargeLoginAttemptBudget, budget)) !== undefined
  }

  return {
    charge,

    /** @throws `AUTH_TOO_MANY_MESSAGES`. */
    async requireCharge(tx: Transaction, reason: MessageReason, email: string): Promise<void> {
      if (!(await charge(tx, reason, email)))
        throw tooManyAuthMailsError({ retryAfterSeconds: Math.ceil(HOUR_SECONDS / messagesPerHour) })
    },

    /** Issues a token and replaces the previous one. Returns false when the user does not exist or is disabled. */
    async issue(
      tx: Transaction,
      token: { id: string; userId: string; purpose: OneTimeTokenPurpose; email: string; seconds: number }
    ): Promise<boolean> {
      return (await tx.run(repository.upsertOneTimeToken, token)) === 1
    },

    /**
     * Returns the id in a token. Whether it is still valid is checked by the statement that uses it.
     * @throws `AUTH_ONE_TIME_TOKEN_INVALID` when the token is forged, or of another purpose.
     */
    idIn(purpose: OneTimeTokenPurpose, text: string): string {
      const id = idIn(purpose, text)
      if (id === undefined) throw oneTimeTokenInvalidError()
      return id
    },

    /** Returns the token of an event, to mail it; `undefined` when it was used, replaced, or has expired. */
    async read(id: string): Promise<OneTimeToken | undefined> {
      const row = await db.first(repository.findOneTimeTokenById, { id })
      if (row === undefined) return undefined
      const { purpose, email, expires_at: expiresAt, is_present } = row
      const ofEmail = is_present ? ('verify_email' as const) : ('change_email' as const)
      return {
        token: textOf(purpose, id),
        email,
        purpose: purpose === 'password' ? 'reset_password' : ofEmail,
        expiresAt
      }
    }
  }
}
export type OneTimeTokenService = ReturnType<typeof createOneTimeTokenService>
