import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import { oneTimeTokenInvalid, tooManyMessages } from '../errors.ts'
import { hashSecret } from '../passwords/random-secrets.ts'
import { chargeBudget } from '../passwords/repository.ts'
import * as repository from './repository.ts'
import { createTokenText, type TokenPurpose } from './tokens.ts'

/** What is to be sent to somebody: `email` is where to. */
export type OneTimeToken = {
  token: string
  email: string
  purpose: 'verify_email' | 'change_email' | 'reset_password'
  expiresAt: Date
}
/**
 * Why an address is sent a message. Each has a budget of its own: whoever asks for the address of somebody else has nothing
 * sent there, and keeps nobody from a new password.
 */
type MessageReason = 'verify' | 'change' | 'password'
export type OneTimeTokenDeps = { db: Database; secrets: Secrets; messagesPerHour: number }

const HOUR_SECONDS = 3_600
const ROUNDING_SECONDS = 0.001 // sums of fractions are not exact

export function createOneTimeTokens({ db, secrets, messagesPerHour }: OneTimeTokenDeps) {
  const { textOf, idIn } = createTokenText(secrets)

  /** Counts a message to this address, whether or not it has an account; false when it has had enough for now. */
  async function charge(tx: Transaction, reason: MessageReason, email: string): Promise<boolean> {
    const key = hashSecret(secrets.mac('auth.message', reason, email))
    const budget = { key, cost: HOUR_SECONDS / messagesPerHour, max: HOUR_SECONDS + ROUNDING_SECONDS }
    return (await tx.first(chargeBudget, budget)) !== undefined
  }

  return {
    charge,

    /** @throws `AUTH_TOO_MANY_MESSAGES`. */
    async requireCharge(tx: Transaction, reason: MessageReason, email: string): Promise<void> {
      if (!(await charge(tx, reason, email)))
        throw tooManyMessages({ retryAfterSeconds: Math.ceil(HOUR_SECONDS / messagesPerHour) })
    },

    /** Makes one in the place of the one before; false when there is no such user, or they are disabled. */
    async issue(
      tx: Transaction,
      token: { id: string; userId: string; purpose: TokenPurpose; email: string; seconds: number }
    ): Promise<boolean> {
      return (await tx.run(repository.upsertToken, token)) === 1
    },

    /**
     * The id of a token that was shown. @throws `AUTH_ONE_TIME_TOKEN_INVALID` when it is none of ours, or of another
     * purpose; whether it is still good the one statement decides that uses it.
     */
    idIn(purpose: TokenPurpose, text: string): string {
      const id = idIn(purpose, text)
      if (id === undefined) throw oneTimeTokenInvalid()
      return id
    },

    /** What is to be sent for the token of an event; `undefined` when it was used, superseded, or has expired. */
    async read(id: string): Promise<OneTimeToken | undefined> {
      const row = await db.first(repository.findToken, { id })
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
export type OneTimeTokens = ReturnType<typeof createOneTimeTokens>
