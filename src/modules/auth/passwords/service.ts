import type { FieldFault } from '../../../kernel/faults.ts'
import type { RunWithoutRequestSlot } from '../../../platform/idempotency/write.ts'
import { invalidCredentialsError } from '../errors.ts'
import { createPasswordWorkQueue } from './bulkhead.ts'
import type { PasswordHashing } from './hashing.ts'
import type { LoginAttempt, LoginThrottle } from './login-throttle.ts'

/** Serves a burst of 300 logins with the default concurrency of two, at about 60 hashes a second each. */
const LOGINS_PER_HASHER = 150
const CHANGES_MAX = 100
/** Maximum wait for a hash in milliseconds; longer waits exceed the deadline of the request. */
const WAIT_MS = 4_500

export type PasswordCheckingServiceDeps = {
  budgets: LoginThrottle
  hashing: PasswordHashing
  hashConcurrency: number
}
type PasswordHolder = { id: string; password_hash: string | null; disabled: boolean }

/**
 * Checks and hashes passwords. A hash takes 12 ms of CPU, so concurrency is limited. Logins have their own limit and never
 * wait for registrations and password changes, which run one at a time and pause half of the time. Waiting and hashing
 * release the request slot, so that many logins do not delay carts and products.
 */
export function createPasswordCheckingService({
  budgets,
  hashing,
  hashConcurrency
}: PasswordCheckingServiceDeps) {
  const loginBulkhead = createPasswordWorkQueue({
    concurrency: hashConcurrency,
    queueMax: hashConcurrency * LOGINS_PER_HASHER,
    waitMs: WAIT_MS
  })
  const changeBulkhead = createPasswordWorkQueue({
    concurrency: 1,
    queueMax: CHANGES_MAX,
    waitMs: WAIT_MS,
    isThrottled: true
  })

  const isRight = async (holder: PasswordHolder | undefined, password: string): Promise<boolean> => {
    const matches = await hashing.verify(holder?.password_hash ?? null, password)
    return matches && holder?.disabled === false
  }

  /**
   * Returns the account that `find` finds, if the password is correct. Unknown and disabled accounts cost the same work and
   * the same budget as wrong passwords.
   * @throws `AUTH_INVALID_CREDENTIALS`, `AUTH_TOO_MANY_FAILURES`, `AUTH_BUSY`.
   */
  async function verify<H extends PasswordHolder>(
    { withoutSlot, ...attempt }: LoginAttempt & { withoutSlot: RunWithoutRequestSlot },
    password: string,
    find: () => Promise<H | undefined>
  ): Promise<H> {
    // The capacity is checked first, so that a rejection costs no query.
    loginBulkhead.requireRoom()
    const holder = await find()
    // The attempt is charged before the check, so that simultaneous guesses cannot exceed the budget.
    const entry = await budgets.chargeAttempt(attempt, holder?.id)
    let right: boolean
    try {
      right = await withoutSlot(() => loginBulkhead.run(() => isRight(holder, password)))
    } catch (error) {
      await entry.withdraw()
      throw error
    }
    if (holder === undefined || !right) throw invalidCredentialsError()
    await entry.succeed(holder.id)
    return holder
  }

  return {
    prove: verify,

    /** Checks the password of a logged-in user. Tries are limited by user, not by network, whether right or wrong. */
    async verifyOwn<H extends PasswordHolder>(
      holder: H,
      password: string,
      { path, withoutSlot }: { path: string; withoutSlot: RunWithoutRequestSlot }
    ): Promise<H> {
      await budgets.chargeOwnAttempt(holder.id)
      if (await withoutSlot(() => changeBulkhead.run(() => isRight(holder, password)))) return holder
      const errors: FieldFault[] = [{ path, message: 'must be your current password' }]
      throw invalidCredentialsError({ details: { errors } })
    },

    /** Marks a network as known to the account, so that failures from other networks do not delay it there. */
    remember: budgets.remember,

    /** @throws `AUTH_BUSY`. */
    hash: (password: string, withoutSlot: RunWithoutRequestSlot): Promise<string> =>
      withoutSlot(() => changeBulkhead.run(() => hashing.hash(password)))
  }
}
export type PasswordCheckingService = ReturnType<typeof createPasswordCheckingService>
