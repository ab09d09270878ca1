import { randomBytes } from 'node:crypto'
import { found } from '../../../kernel/errors.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import {
  loginChallengeEndedError,
  secondFactorLoginCodeInvalidError,
  secondFactorRequiredError
} from '../errors.ts'
import type { AllowedLoginAttempt, LoginThrottle } from '../passwords/login-throttle.ts'
import { hashSecret } from '../passwords/random-secrets.ts'
import type { SecondFactorService } from '../second-factors/service.ts'
import { type SessionOrigin, storedUserAgentOf } from '../sessions/origin.ts'
import type { RefreshTokenSeed, SessionService } from '../sessions/service.ts'
import type { UserRow } from '../users/repository.ts'
import { findUser, selectPublicUserFields } from '../users/repository.ts'
import * as repository from './repository.ts'
import type { AnswerChallengeRequest } from './schema.ts'

export type LoginChallengeDeps = {
  db: Database
  /**
   * The throttle of second factors. It is separate from that of passwords, so that a correct password allows
   * no additional guesses.
   */
  budgets: LoginThrottle
  factors: Pick<SecondFactorService, 'accept'>
  sessions: Pick<SessionService, 'open' | 'openedBefore'>
}

const SECONDS = 300
const TRIES_MAX = 5
const TOKEN_BYTES = 32

/** Manages logins that have a correct password and still need the second factor. */
export function createLoginChallenges({ db, budgets, factors, sessions }: LoginChallengeDeps) {
  type OpenChallenge = { userId: string; passwordHash: string; tokenHash: Buffer; seed: RefreshTokenSeed }

  async function complete(
    tx: Transaction,
    { userId, passwordHash, tokenHash, seed }: OpenChallenge,
    code: string,
    origin: SessionOrigin
  ) {
    found(
      await tx.first(repository.lockUserOfLoginChallenge, { userId, passwordHash }),
      loginChallengeEndedError
    )
    if (!(await factors.accept(tx, userId, code))) throw secondFactorLoginCodeInvalidError()
    // Only the first of several simultaneous successes opens a session.
    if ((await tx.run(repository.deleteLoginChallenge, { tokenHash })) === 0) throw loginChallengeEndedError()
    const user = selectPublicUserFields(
      found(await tx.first(findUser, { id: userId }), loginChallengeEndedError)
    )
    const owner = { ...user, passwordHash, hasSecondFactor: true }
    const tokens = found(
      await sessions.open(tx, owner, storedUserAgentOf(origin), seed),
      loginChallengeEndedError
    )
    return { user, ...tokens }
  }

  /** Returns the session of an earlier try, because its code cannot be used again. */
  async function findCompleted(seed: RefreshTokenSeed) {
    const { userId, ...tokens } = found(await sessions.openedBefore(seed), loginChallengeEndedError)
    return {
      user: selectPublicUserFields(found(await db.first(findUser, { id: userId }), loginChallengeEndedError)),
      ...tokens
    }
  }

  return {
    /** Creates a challenge and returns the error that contains it. */
    async create({ id: userId }: Pick<UserRow, 'id'>, passwordHash: string) {
      const challenge = `ch_${randomBytes(TOKEN_BYTES).toString('base64url')}`
      const tokenHash = hashSecret(challenge)
      await db.run(repository.insertLoginChallenge, { tokenHash, userId, passwordHash, seconds: SECONDS })
      return secondFactorRequiredError({ details: { challenge, expires_in: SECONDS } })
    },

    /** Opens the session, or returns the one that an earlier try of the request opened. @throws `AUTH_CHALLENGE_ENDED`, `AUTH_SECOND_FACTOR_INVALID`, `AUTH_TOO_MANY_FAILURES`. */
    async answer({ challenge, code }: AnswerChallengeRequest, origin: SessionOrigin, write: IdempotentWrite) {
      const seed = { sessionId: write.id, text: challenge }
      if (write.alreadyApplied) return findCompleted(seed)
      const tokenHash = hashSecret(challenge)
      const limited = { tokenHash, triesMax: TRIES_MAX }
      const opened = found(
        await db.first(repository.findOpenLoginChallenge, limited),
        loginChallengeEndedError
      )
      const { user_id: userId, password_hash: passwordHash } = opened
      const entry = await budgets.chargeAttempt({ account: userId, network: origin.network }, userId)
      const counted = await db
        .first(repository.recordLoginChallengeAttempt, limited)
        .catch(error => refund(entry, error))
      if (counted === undefined) return refund(entry, loginChallengeEndedError())
      const signedIn = await write
        .once(db, tx => complete(tx, { userId, passwordHash, tokenHash, seed }, code, origin))
        .catch((error: unknown) => {
          if (!isWrong(error)) return refund(entry, error)
          throw secondFactorLoginCodeInvalidError({ details: { tries_left: TRIES_MAX - counted.tries } })
        })
      await entry.succeed(userId)
      return signedIn
    }
  }
}
export type LoginChallenges = ReturnType<typeof createLoginChallenges>

const isWrong = (error: unknown): boolean =>
  (error as { code?: unknown }).code === secondFactorLoginCodeInvalidError.code

/** Refunds a try that failed for another reason than a wrong code. */
async function refund(entry: AllowedLoginAttempt, reason: unknown): Promise<never> {
  await entry.withdraw()
  throw reason
}
