import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import { tooManyFailedAttemptsError } from '../errors.ts'
import {
  decideLoginAttempt,
  LOGIN_BUDGET_REFILL_SECONDS,
  LOGIN_BUDGET_TOLERANCE_SECONDS,
  type LoginThrottleState,
  loginAttemptCostSeconds,
  loginNetworkPrefixOf,
  secondsUntilReservedLoginAttempt,
  sharedLoginBudgetCapacitySeconds,
  UNKNOWN_NETWORK_LOGIN_INTERVAL_SECONDS
} from './attempt-rules.ts'
import { hashSecret } from './random-secrets.ts'
import * as repository from './repository.ts'

export const KNOWN_LOGIN_NETWORK_DAYS = 90

/** A login attempt: the account, which may not exist, and the network. */
export type LoginAttempt = { account: string; network: string }
/** An allowed login attempt, charged as if it failed. */
export type AllowedLoginAttempt = {
  /** Call on success: restores the network's budget and marks the network as known. */
  succeed(userId: string): Promise<void>
  /** Call when nothing was checked: refunds the attempt. */
  withdraw(): Promise<void>
}
type BudgetDeps = {
  db: Database
  secrets: Secrets
  failuresMax: number
  /** Purpose of the budgets: attempts of different purposes are counted separately. */
  purpose?: 'auth.login' | 'auth.second_factor'
  /** Seconds between two attempts of all unknown networks, once their shared budget is exhausted. */
  trickleSeconds?: number
}

/** Limits how often passwords and second factors may be guessed. */
export function createLoginThrottle(deps: BudgetDeps) {
  const {
    db,
    secrets,
    failuresMax,
    purpose = 'auth.login',
    trickleSeconds = UNKNOWN_NETWORK_LOGIN_INTERVAL_SECONDS
  } = deps
  const cost = loginAttemptCostSeconds(failuresMax)
  const keyed = (...parts: string[]) => hashSecret(secrets.mac(purpose, ...parts))
  const keyOfNetwork = (userId: string, place: string) => keyed('known', userId, place)
  const refused = (seconds: number) =>
    tooManyFailedAttemptsError({ retryAfterSeconds: Math.max(1, Math.ceil(seconds)) })

  /** Runs a transaction that does not wait for the disk. */
  const count = <T>(work: (tx: Transaction) => Promise<T>): Promise<T> =>
    db.transaction(async tx => (await Promise.all([tx.rows(repository.useAsynchronousCommit), work(tx)]))[1])

  /** Returns false when no attempt is left, or a concurrent one took the turn. */
  const charge = async (tx: Transaction, key: Buffer): Promise<boolean> =>
    (await tx.first(repository.chargeLoginAttemptBudget, {
      key,
      cost,
      max: LOGIN_BUDGET_REFILL_SECONDS + LOGIN_BUDGET_TOLERANCE_SECONDS
    })) !== undefined

  /** Charges the budget that unknown networks share. Returns the seconds until the reserved turn; 0 if there is no wait. */
  async function chargeAccount(tx: Transaction, account: Buffer, own: Buffer): Promise<number> {
    const max = sharedLoginBudgetCapacitySeconds(failuresMax, trickleSeconds)
    const charged = await tx.first(repository.chargeLoginAttemptBudget, {
      key: account,
      cost: trickleSeconds,
      max
    })
    if (charged === undefined) throw refused(max)
    const seconds = secondsUntilReservedLoginAttempt(charged.level, failuresMax, trickleSeconds)
    if (seconds > 0) await tx.run(repository.reserveLaterLoginAttempt, { key: own, cost, seconds })
    return seconds
  }

  async function standingOf(
    own: Buffer,
    userId: string | undefined,
    network: Buffer
  ): Promise<LoginThrottleState> {
    const taken = { own, userId: userId ?? null, network, knownDays: KNOWN_LOGIN_NETWORK_DAYS }
    const row = await db.first(repository.findLoginBudgets, taken)
    return { ownLevel: row?.own_level ?? 0, turnIn: row?.turn_in ?? null, isKnown: row?.is_known ?? false }
  }

  return {
    /**
     * Charges an attempt, or throws with the time of the next one. Costs the same whether or not the account exists.
     * @throws `AUTH_TOO_MANY_FAILURES`.
     */
    async chargeAttempt(
      { account: name, network: address }: LoginAttempt,
      userId: string | undefined
    ): Promise<AllowedLoginAttempt> {
      const place = loginNetworkPrefixOf(address)
      const [own, account] = [keyed('own', name, place), keyed('account', name)]
      const network = (id: string) => keyOfNetwork(id, place)
      const allowed = decideLoginAttempt(await standingOf(own, userId, network(userId ?? '')), failuresMax)
      // An exhausted budget is rejected without a write or a lock, because most requests of a brute-force
      // attack end here.
      if ('waitSeconds' in allowed) throw refused(allowed.waitSeconds)

      const isShared = allowed.charge === 'account'
      // All transactions lock the account's budget in this network before the budget of other networks, because the
      // same order prevents deadlocks.
      const waitSeconds = await count(async tx => {
        if (!(await charge(tx, own))) return cost
        return isShared ? chargeAccount(tx, account, own) : 0
      })
      if (waitSeconds > 0) throw refused(waitSeconds)

      const refundAccount = async (tx: Transaction) => {
        if (isShared)
          await tx.run(repository.refundLoginAttemptBudget, { key: account, cost: trickleSeconds })
      }
      return {
        succeed: id =>
          count(async tx => {
            await tx.run(repository.deleteLoginBudget, { key: own })
            await refundAccount(tx)
            await tx.run(repository.upsertKnownLoginNetwork, { userId: id, network: network(id) })
          }),
        withdraw: () =>
          count(async tx => {
            await tx.run(repository.refundLoginAttemptBudget, { key: own, cost })
            await refundAccount(tx)
          })
      }
    },

    async remember(userId: string, address: string): Promise<void> {
      const network = keyOfNetwork(userId, loginNetworkPrefixOf(address))
      await count(tx => tx.run(repository.upsertKnownLoginNetwork, { userId, network }))
    },

    /** Charges an attempt of a logged-in user. @throws `AUTH_TOO_MANY_FAILURES`. */
    async chargeOwnAttempt(userId: string): Promise<void> {
      const isCharged = await count(tx => charge(tx, keyed('password', userId)))
      if (!isCharged) throw refused(cost)
    }
  }
}
export type LoginThrottle = ReturnType<typeof createLoginThrottle>
