import type {
  Database,
  Queryable,
  Transaction,
  TransactionRunner
} from '../../../platform/postgres/database.ts'
import { customerUsageLimitReachedError, firstOrderAlreadyPlacedError } from '../errors.ts'
import type { PromotionRedemption } from '../quote/promotions.ts'
import * as repository from './repository.ts'
import { addLimitedPromotionUses } from './usage-limits-repository.ts'

/**
 * Returns whether a buyer has an order that counts as an earlier order, except the order `but`. `customer`
 * and `mailbox` as in `PricingApi.readRules`.
 */
export type HasEarlierOrder = (
  db: Queryable,
  customer: string,
  but: string | null,
  mailbox: string | null
) => Promise<boolean>

/** A transaction that redeems what it was opened for. */
export type PromotionRedemptionTransaction = Transaction & {
  readonly redemptions: readonly PromotionRedemption[]
}

/**
 * Concurrent transactions per promotion or code in this process. A transaction waits for another's commit
 * only at its end, so 4 reach the same rate as no limit, and 1 less than half (npm run bench:quote --
 * takers, 2026-11: 893 and 276 of 952/s).
 */
const LANES = 4
let transactionsBegun = 0

/**
 * Opens transactions for these redemptions; see `PricingApi`. Only a few per promotion hold a connection,
 * because the others would only wait for commits.
 */
export function redemptionTransactions(
  db: Database,
  redemptions: readonly PromotionRedemption[]
): TransactionRunner<PromotionRedemptionTransaction> {
  transactionsBegun += 1
  const lane = transactionsBegun % LANES
  const turns = redemptions.flatMap(each => queueKeysOf(each, lane)).sort()
  const queue = turns.reduce((waiting, turn) => waiting.serializedBy(turn), db)
  return {
    transaction: (work, options) => queue.transaction(tx => work(Object.assign(tx, { redemptions })), options)
  }
}

const queueKeysOf = ({ promotionId, code, limited }: PromotionRedemption, lane: number): string[] =>
  limited === undefined ? [] : [`${limited} ${limited === 'promotion' ? promotionId : code} ${lane}`]

/**
 * Creates `redeem`; see `PricingApi`. Limits are contended rows, so they are updated with the commit and
 * locked briefly.
 */
export function createPromotionRedeemer(hasOrdered: HasEarlierOrder) {
  return async (
    tx: PromotionRedemptionTransaction,
    owner: string,
    customer: string,
    mailbox: string | null = null
  ): Promise<void> => {
    const { redemptions } = tx
    if (redemptions.length === 0) return
    const taken = await tx.rows(repository.insertPromotionRedemptions, {
      owner,
      customer,
      promotion_ids: redemptions.map(({ promotionId }) => promotionId),
      codes: redemptions.map(({ code = '' }) => code)
    })
    if (taken.length === 0) return
    const promotion_ids = taken.map(row => row.promotion_id)
    const uses = await tx.rows(repository.incrementCustomerPromotionUses, {
      customer,
      mailbox,
      promotion_ids
    })
    if (uses.some(row => row.uses_per_customer !== null && row.taken > row.uses_per_customer))
      throw customerUsageLimitReachedError()
    if (uses.some(row => row.first_order_only)) {
      // Of two simultaneous orders one gets the row. Earlier orders are known to the orders module.
      const first = await tx.first(repository.claimFirstOrderOfCustomer, { customer, owner })
      if (first?.owner !== owner || (await hasOrdered(tx, customer, owner, mailbox)))
        throw firstOrderAlreadyPlacedError()
    }
    tx.withCommit(() => tx.run(addLimitedPromotionUses, { ids: budgetsOf(taken), uses: 1 }))
  }
}

/** Counts the redemptions of a paid order for a mailbox; see `PricingApi`. */
export async function assignPromotionRedemptionsToMailbox(
  tx: Transaction,
  owner: string,
  mailbox: string
): Promise<void> {
  await tx.run(repository.setPromotionRedemptionMailbox, { owner, mailbox })
}

/** Releases all redemptions of an order; see `PricingApi`. */
export async function releasePromotionRedemptions(tx: Transaction, owner: string): Promise<void> {
  const given = await tx.rows(repository.deletePromotionRedemptionsOfOrder, { owner })
  const [first] = given
  if (first === undefined) return
  const { customer } = first
  await tx.run(repository.decrementCustomerPromotionUses, {
    customer,
    promotion_ids: given.map(row => row.promotion_id)
  })
  await tx.run(repository.releaseFirstOrderClaim, { customer, owner })
  tx.withCommit(() => tx.run(addLimitedPromotionUses, { ids: budgetsOf(given), uses: -1 }))
}

type Used = { readonly promotion_id: string; readonly code_id: string | null }
const budgetsOf = (used: readonly Used[]): string[] =>
  used.flatMap(({ promotion_id, code_id }) => (code_id === null ? [promotion_id] : [promotion_id, code_id]))
