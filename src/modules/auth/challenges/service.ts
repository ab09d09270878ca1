import { randomBytes } from 'node:crypto'
import { found } from '../../../kernel/errors.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { UserRow } from '../accounts/repository.ts'
import { findUser, presentUser } from '../accounts/repository.ts'
import { challengeEnded, secondFactorInvalid, secondFactorRequired } from '../errors.ts'
import type { Budgets, Entry } from '../passwords/budgets.ts'
import { hashSecret } from '../passwords/random-secrets.ts'
import type { SecondFactors } from '../second-factors/service.ts'
import { type Origin, userAgentOf } from '../sessions/origin.ts'
import type { SessionService } from '../sessions/service.ts'
import * as repository from './repository.ts'
import type { AnswerChallengeRequest } from './schema.ts'

export type ChallengeDeps = {
  db: Database
  /** Of second factors: apart from those of passwords, so that a right password allows no further guesses. */
  budgets: Budgets
  factors: Pick<SecondFactors, 'accept'>
  sessions: Pick<SessionService, 'open'>
}

const SECONDS = 300
const TRIES_MAX = 5
const TOKEN_BYTES = 32

/** Log-ins whose password was right, and whose second factor is awaited. */
export function createChallenges({ db, budgets, factors, sessions }: ChallengeDeps) {
  type Open = { userId: string; passwordHash: string; tokenHash: Buffer }

  async function complete(
    tx: Transaction,
    { userId, passwordHash, tokenHash }: Open,
    code: string,
    origin: Origin
  ) {
    found(await tx.first(repository.lockChallenged, { userId, passwordHash }), challengeEnded)
    if (!(await factors.accept(tx, userId, code))) throw secondFactorInvalid()
    // The first of several simultaneous successes ends it.
    if ((await tx.run(repository.deleteChallenge, { tokenHash })) === 0) throw challengeEnded()
    const user = presentUser(found(await tx.first(findUser, { id: userId }), challengeEnded))
    const owner = { ...user, passwordHash, hasSecondFactor: true }
    const tokens = found(await sessions.open(tx, owner, userAgentOf(origin)), challengeEnded)
    return { user, ...tokens }
  }

  return {
    /** What to throw when the password was right. */
    async create({ id: userId }: Pick<UserRow, 'id'>, passwordHash: string) {
      const challenge = `ch_${randomBytes(TOKEN_BYTES).toString('base64url')}`
      const tokenHash = hashSecret(challenge)
      await db.run(repository.insertChallenge, { tokenHash, userId, passwordHash, seconds: SECONDS })
      return secondFactorRequired({ details: { challenge, expires_in: SECONDS } })
    },

    /** Opens the session. @throws `AUTH_CHALLENGE_ENDED`, `AUTH_SECOND_FACTOR_INVALID`, `AUTH_TOO_MANY_FAILURES`. */
    async answer({ challenge, code }: AnswerChallengeRequest, origin: Origin) {
      const tokenHash = hashSecret(challenge)
      const limited = { tokenHash, triesMax: TRIES_MAX }
      const opened = found(await db.first(repository.findChallenge, limited), challengeEnded)
      const { user_id: userId, password_hash: passwordHash } = opened
      const entry = await budgets.enter({ account: userId, network: origin.network }, userId)
      const counted = await db.first(repository.countTry, limited).catch(error => withdraw(entry, error))
      if (counted === undefined) return withdraw(entry, challengeEnded())
      const signedIn = await db
        .transaction(tx => complete(tx, { userId, passwordHash, tokenHash }, code, origin))
        .catch((error: unknown) => {
          if (!isWrong(error)) return withdraw(entry, error)
          throw secondFactorInvalid({ details: { tries_left: TRIES_MAX - counted.tries } })
        })
      await entry.succeed(userId)
      return signedIn
    }
  }
}
export type Challenges = ReturnType<typeof createChallenges>

const isWrong = (error: unknown): boolean => (error as { code?: unknown }).code === secondFactorInvalid.code

/** The try came to nothing, for a reason that is not its code. */
async function withdraw(entry: Entry, reason: unknown): Promise<never> {
  await entry.withdraw()
  throw reason
}
