import type { Database, Queryable, Transaction, Transactions } from '../../../platform/postgres/database.ts'
import { addUses } from '../budgets/repository.ts'
import { customerLimit, firstOrderTaken } from '../errors.ts'
import type { Redemption } from '../quote/promotions.ts'
import * as repository from './repository.ts'

/**
 * Returns whether a buyer has an order that counts, other than `but`. `customer` and `mailbox` as in `PricingApi.rules`.
 */
export type HasOrdered = (
  db: Queryable,
  customer: string,
  but: string | null,
  mailbox: string | null
) => Promise<boolean>

/** A transaction that redeems what it began in turn for. */
export type Redeeming = Transaction & { readonly redemptions: readonly Redemption[] }

/**
 * Of one promotion or code so many transactions of this process are under way at a time. One waits for the commit of another
 * only as it ends, so with 4 as many are redeemed as without turns, and with 1 less than half (npm run bench:quote -- takers,
 * 2026-11: 893 and 276 of 952/s).
 */
const LANES = 4
let begun = 0

/**
 * Where transactions begin that redeem these; see `PricingApi`. Of those who want the same few uses a few have connections: all
 * of them would hold theirs while they wait for each other's commits.
 */
export function inTurn(db: Database, redemptions: readonly Redemption[]): Transactions<Redeeming> {
  begun += 1
  const lane = begun % LANES
  const turns = redemptions.flatMap(each => turnOf(each, lane)).sort()
  const queue = turns.reduce((waiting, turn) => waiting.inTurn(turn), db)
  return {
    transaction: (work, options) => queue.transaction(tx => work(Object.assign(tx, { redemptions })), options)
  }
}

const turnOf = ({ promotionId, code, limited }: Redemption, lane: number): string[] =>
  limited === undefined ? [] : [`${limited} ${limited === 'promotion' ? promotionId : code} ${lane}`]

/**
 * Takes what the transaction began for; see `PricingApi`. Limits of a promotion and a code are rows that everybody wants: they
 * are changed with the commit, so that nobody holds them any longer.
 */
export function createRedeem(hasOrdered: HasOrdered) {
  return async (
    tx: Redeeming,
    owner: string,
    customer: string,
    mailbox: string | null = null
  ): Promise<void> => {
    const { redemptions } = tx
    if (redemptions.length === 0) return
    const taken = await tx.rows(repository.insertRedemptions, {
      owner,
      customer,
      promotion_ids: redemptions.map(({ promotionId }) => promotionId),
      codes: redemptions.map(({ code = '' }) => code)
    })
    if (taken.length === 0) return
    const promotion_ids = taken.map(row => row.promotion_id)
    const uses = await tx.rows(repository.addCustomerUses, { customer, mailbox, promotion_ids })
    if (uses.some(row => row.uses_per_customer !== null && row.taken > row.uses_per_customer))
      throw customerLimit()
    if (uses.some(row => row.first_order_only)) {
      // Of two that are made at once one has the row; who has ordered before says whoever keeps the orders.
      const first = await tx.first(repository.claimFirstOrder, { customer, owner })
      if (first?.owner !== owner || (await hasOrdered(tx, customer, owner, mailbox))) throw firstOrderTaken()
    }
    tx.withCommit(() => tx.run(addUses, { ids: budgetsOf(taken), uses: 1 }))
  }
}

/** Counts the uses of a paid order for a mailbox; see `PricingApi`. */
export async function countPaid(tx: Transaction, owner: string, mailbox: string): Promise<void> {
  await tx.run(repository.countForMailbox, { owner, mailbox })
}

/** Gives all of it back; see `PricingApi`. */
export async function release(tx: Transaction, owner: string): Promise<void> {
  const given = await tx.rows(repository.deleteRedemptions, { owner })
  const [first] = given
  if (first === undefined) return
  const { customer } = first
  await tx.run(repository.giveCustomerUsesBack, {
    customer,
    promotion_ids: given.map(row => row.promotion_id)
  })
  await tx.run(repository.giveFirstOrderBack, { customer, owner })
  tx.withCommit(() => tx.run(addUses, { ids: budgetsOf(given), uses: -1 }))
}

type Used = { readonly promotion_id: string; readonly code_id: string | null }
const budgetsOf = (used: readonly Used[]): string[] =>
  used.flatMap(({ promotion_id, code_id }) => (code_id === null ? [promotion_id] : [promotion_id, code_id]))
