import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import { tooManyFailures } from '../errors.ts'
import {
  accountMax,
  admission,
  neighbourhoodOf,
  ownCost,
  ROUNDING_SECONDS,
  type Standing,
  TRICKLE_SECONDS,
  turnWait,
  WINDOW_SECONDS
} from './admission.ts'
import { hashSecret } from './random-secrets.ts'
import * as repository from './repository.ts'

export const KNOWN_DAYS = 90

/** Whose password is tried, whether or not they exist, and from where. */
export type Attempt = { account: string; network: string }
/** A try that was allowed, and paid for as if it failed. */
export type Entry = {
  /** It was right: what this network used up is forgotten, and it is known from now on. */
  succeed(userId: string): Promise<void>
  /** It came to nothing. */
  withdraw(): Promise<void>
}
type BudgetDeps = {
  db: Database
  secrets: Secrets
  failuresMax: number
  /** What is guessed: budgets of one purpose say nothing of another. */
  purpose?: 'auth.login' | 'auth.second_factor'
  /** Between two tries of all unknown networks, once their budget is used up. */
  trickleSeconds?: number
}

/** How often passwords and second factors may be guessed. */
export function createBudgets(deps: BudgetDeps) {
  const { db, secrets, failuresMax, purpose = 'auth.login', trickleSeconds = TRICKLE_SECONDS } = deps
  const cost = ownCost(failuresMax)
  const keyed = (...parts: string[]) => hashSecret(secrets.mac(purpose, ...parts))
  const keyOfNetwork = (userId: string, place: string) => keyed('known', userId, place)
  const refused = (seconds: number) => tooManyFailures({ retryAfterSeconds: Math.max(1, Math.ceil(seconds)) })

  /** A transaction of counting. */
  const count = <T>(work: (tx: Transaction) => Promise<T>): Promise<T> =>
    db.transaction(async tx => (await Promise.all([tx.rows(repository.commitWithoutWaiting), work(tx)]))[1])

  /** False when there is no try left, or somebody beside it was faster with a turn. */
  const charge = async (tx: Transaction, key: Buffer): Promise<boolean> =>
    (await tx.first(repository.chargeBudget, { key, cost, max: WINDOW_SECONDS + ROUNDING_SECONDS })) !==
    undefined

  /** Takes one of the tries that unknown networks share; answers how long to wait where that is a later one. */
  async function chargeAccount(tx: Transaction, account: Buffer, own: Buffer): Promise<number> {
    const max = accountMax(failuresMax, trickleSeconds)
    const charged = await tx.first(repository.chargeBudget, { key: account, cost: trickleSeconds, max })
    if (charged === undefined) throw refused(max)
    const seconds = turnWait(charged.level, failuresMax, trickleSeconds)
    if (seconds > 0) await tx.run(repository.reserveTurn, { key: own, cost, seconds })
    return seconds
  }

  async function standingOf(own: Buffer, userId: string | undefined, network: Buffer): Promise<Standing> {
    const taken = { own, userId: userId ?? null, network, knownDays: KNOWN_DAYS }
    const row = await db.first(repository.findBudgets, taken)
    return { ownLevel: row?.own_level ?? 0, turnIn: row?.turn_in ?? null, isKnown: row?.is_known ?? false }
  }

  return {
    /**
     * Allows a try, or says when the next one is. It costs the same whether or not there is such an account.
     * @throws `AUTH_TOO_MANY_FAILURES`.
     */
    async enter({ account: name, network: address }: Attempt, userId: string | undefined): Promise<Entry> {
      const place = neighbourhoodOf(address)
      const [own, account] = [keyed('own', name, place), keyed('account', name)]
      const network = (id: string) => keyOfNetwork(id, place)
      const allowed = admission(await standingOf(own, userId, network(userId ?? '')), failuresMax)
      // Refused without a write, and without a lock: this is what a storm of guesses comes to.
      if ('waitSeconds' in allowed) throw refused(allowed.waitSeconds)

      const isShared = allowed.charge === 'account'
      // This network's row first, here and below: two that lock the same rows in one order do not lock each other out.
      const waitSeconds = await count(async tx => {
        if (!(await charge(tx, own))) return cost
        return isShared ? chargeAccount(tx, account, own) : 0
      })
      if (waitSeconds > 0) throw refused(waitSeconds)

      const refundAccount = async (tx: Transaction) => {
        if (isShared) await tx.run(repository.refundBudget, { key: account, cost: trickleSeconds })
      }
      return {
        succeed: id =>
          count(async tx => {
            await tx.run(repository.deleteBudget, { key: own })
            await refundAccount(tx)
            await tx.run(repository.upsertKnownNetwork, { userId: id, network: network(id) })
          }),
        withdraw: () =>
          count(async tx => {
            await tx.run(repository.refundBudget, { key: own, cost })
            await refundAccount(tx)
          })
      }
    },

    async remember(userId: string, address: string): Promise<void> {
      const network = keyOfNetwork(userId, neighbourhoodOf(address))
      await count(tx => tx.run(repository.upsertKnownNetwork, { userId, network }))
    },

    /** Allows somebody who is logged in to try their password. @throws `AUTH_TOO_MANY_FAILURES`. */
    async enterOwn(userId: string): Promise<void> {
      const isCharged = await count(tx => charge(tx, keyed('password', userId)))
      if (!isCharged) throw refused(cost)
    }
  }
}
export type Budgets = ReturnType<typeof createBudgets>
