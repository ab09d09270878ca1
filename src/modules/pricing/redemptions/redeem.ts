import type { Database, Transaction, TransactionRunner } from '../../../platform/postgres/database.ts'
import type { PromotionRedemption } from '../quote/promotions.ts'
import { enforcePromotionUsageLimits, releasePromotionUses } from './enforce-usage-limits.ts'
import type { HasEarlierOrder } from './order-history.ts'
import * as repository from './repository.ts'

/** A transaction that redeems what it was opened for. */
export type TransactionWithPromotionRedemptions = Transaction & {
  readonly redemptions: readonly PromotionRedemption[]
}

/**
 * Concurrent transactions per promotion or code in this process. A transaction waits for another's commit
 * only at its end, so 4 reach the same rate as no limit, and 1 less than half. Measured with `npm run
 * bench:quote -- takers` (2026-11): 893 and 276 of 952/s.
 */
const LANES = 4
let transactionsBegun = 0

/**
 * Opens transactions for these redemptions; see `PricingApi`. Only a few per promotion hold a connection,
 * because the others would only wait for commits.
 */
export function createRedemptionTransactionRunner(
  db: Database,
  redemptions: readonly PromotionRedemption[]
): TransactionRunner<TransactionWithPromotionRedemptions> {
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

/** Creates `redeem`; see `PricingApi`. */
export function createPromotionRedeemer(hasOrdered: HasEarlierOrder) {
  return async (
    tx: TransactionWithPromotionRedemptions,
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
    await enforcePromotionUsageLimits(tx, { owner, customer, mailbox }, taken, hasOrdered)
  }
}

/** Counts the redemptions of a paid order for a mailbox; see `PricingApi`. */
export async function assignPromotionRedemptionsToMailbox(
  tx: Transaction,
  owner: string,
  mailbox: string
): Promise<void> {
  await tx.run(repository.setPromotionRedemptionMailboxOfOrder, { owner, mailbox })
}

/** Releases all redemptions of an order; see `PricingApi`. */
export async function releasePromotionRedemptions(tx: Transaction, owner: string): Promise<void> {
  const released = await tx.rows(repository.deletePromotionRedemptionsOfOrder, { owner })
  const [first] = released
  if (first === undefined) return
  await releasePromotionUses(tx, { owner, customer: first.customer }, released)
}
