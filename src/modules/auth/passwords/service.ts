import type { Database } from '../../../platform/postgres.ts'
import { invalidCredentials, tooManyFailures } from '../errors.ts'
import * as repository from '../repository.ts'
import { hashSecret } from '../secrets.ts'
import { createBulkhead } from './bulkhead.ts'
import type { PasswordHashing } from './hashing.ts'

/** How long failures count against an account, from the first of them. */
export const FAILURE_WINDOW_SECONDS = 900
const QUEUE_MAX = 100
const QUEUE_WAIT_MS = 2_000

export type PasswordDeps = {
  db: Database
  hashing: PasswordHashing
  hashesAtOnce: number
  failuresMax: number
}
type Holder = { password_hash: string | null; disabled: boolean }

export function createPasswords({ db, hashing, hashesAtOnce, failuresMax }: PasswordDeps) {
  const run = createBulkhead({ atOnce: hashesAtOnce, queueMax: QUEUE_MAX, waitMs: QUEUE_WAIT_MS })
  const refuse = (failures: repository.Failures) =>
    tooManyFailures({ retryAfterSeconds: Math.max(1, failures.retry_after_seconds) })

  /** @throws `AUTH_BUSY`. */
  const hash = (password: string): Promise<string> => run(() => hashing.hash(password))

  /**
   * The holder that `find` finds, if this is their password. Failures are counted under `account`, whether it exists
   * or not, and nobody, absent and disabled holders cost the same work as wrong passwords.
   * @throws `AUTH_INVALID_CREDENTIALS`, `AUTH_TOO_MANY_FAILURES`, `AUTH_BUSY`.
   */
  function prove<H extends Holder>(
    account: string,
    password: string,
    find: () => Promise<H | undefined>
  ): Promise<H> {
    const keyHash = hashSecret(account)
    // The count is read where the hash is computed, behind the queue: guesses sent at once cannot overtake it.
    return run(async () => {
      const earlier = await repository.findFailures(db, keyHash, FAILURE_WINDOW_SECONDS)
      if (earlier !== undefined && earlier.failures >= failuresMax) throw refuse(earlier)
      const holder = await find()
      const matches = await hashing.verify(holder?.password_hash ?? null, password)
      if (holder !== undefined && matches && !holder.disabled) {
        if (earlier !== undefined) await repository.deleteFailures(db, keyHash)
        return holder
      }
      const failures = await repository.insertFailure(db, keyHash, FAILURE_WINDOW_SECONDS)
      throw failures.failures > failuresMax ? refuse(failures) : invalidCredentials()
    })
  }

  return { hash, prove }
}
export type Passwords = ReturnType<typeof createPasswords>
