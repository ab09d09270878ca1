import type { Fault } from '../../../kernel/faults.ts'
import type { WithoutSlot } from '../../../platform/idempotency/write.ts'
import { invalidCredentials } from '../errors.ts'
import type { Attempt, Budgets } from './budgets.ts'
import { createBulkhead } from './bulkhead.ts'
import type { PasswordHashing } from './hashing.ts'

/** A burst of 300 log-ins is served with the usual two places: each computes some 60 hashes a second. */
const LOG_INS_PER_PLACE = 150
const CHANGES_MAX = 100
/** A log-in or change that is answered later has met the deadline of its request. */
const WAIT_MS = 4_500

export type PasswordDeps = { budgets: Budgets; hashing: PasswordHashing; hashesAtOnce: number }
type Holder = { id: string; password_hash: string | null; disabled: boolean }

/**
 * Hashing costs a processor 12 ms, so few are computed at once. Log-ins have places of their own: whoever registers, or
 * changes passwords over and over, has one place beside them, which rests half of the time, and a log-in never waits for it.
 * What waits here or is hashed holds no request slot, so that many log-ins never delay carts and products.
 */
export function createPasswords({ budgets, hashing, hashesAtOnce }: PasswordDeps) {
  const forLogIns = createBulkhead({
    atOnce: hashesAtOnce,
    queueMax: hashesAtOnce * LOG_INS_PER_PLACE,
    waitMs: WAIT_MS
  })
  const forChanges = createBulkhead({
    atOnce: 1,
    queueMax: CHANGES_MAX,
    waitMs: WAIT_MS,
    rests: true
  })

  const isRight = async (holder: Holder | undefined, password: string): Promise<boolean> => {
    const matches = await hashing.verify(holder?.password_hash ?? null, password)
    return matches && holder?.disabled === false
  }

  /**
   * The holder that `find` finds, if this is their password. Nobody, absent and disabled holders cost the same work as
   * wrong passwords, and the same budget.
   * @throws `AUTH_INVALID_CREDENTIALS`, `AUTH_TOO_MANY_FAILURES`, `AUTH_BUSY`.
   */
  async function prove<H extends Holder>(
    { withoutSlot, ...attempt }: Attempt & { withoutSlot: WithoutSlot },
    password: string,
    find: () => Promise<H | undefined>
  ): Promise<H> {
    // Before anything is read or counted: what will be refused costs next to nothing.
    forLogIns.requireRoom()
    const holder = await find()
    // Paid for before it is computed: guesses sent at once cannot overtake the count.
    const entry = await budgets.enter(attempt, holder?.id)
    let right: boolean
    try {
      right = await withoutSlot(() => forLogIns.run(() => isRight(holder, password)))
    } catch (error) {
      await entry.withdraw()
      throw error
    }
    if (holder === undefined || !right) throw invalidCredentials()
    await entry.succeed(holder.id)
    return holder
  }

  return {
    prove,

    /** The same for somebody who is logged in, from wherever they are: so many tries each, right or wrong. */
    async proveOwn<H extends Holder>(
      holder: H,
      password: string,
      { path, withoutSlot }: { path: string; withoutSlot: WithoutSlot }
    ): Promise<H> {
      await budgets.enterOwn(holder.id)
      if (await withoutSlot(() => forChanges.run(() => isRight(holder, password)))) return holder
      const errors: Fault[] = [{ path, message: 'must be your present password' }]
      throw invalidCredentials({ details: { errors } })
    },

    /** From this network they came in: strangers elsewhere do not make them wait here. */
    remember: budgets.remember,

    /** @throws `AUTH_BUSY`. */
    hash: (password: string, withoutSlot: WithoutSlot): Promise<string> =>
      withoutSlot(() => forChanges.run(() => hashing.hash(password)))
  }
}
export type Passwords = ReturnType<typeof createPasswords>
