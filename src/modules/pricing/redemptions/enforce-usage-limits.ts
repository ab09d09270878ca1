import type { Transaction } from '../../../platform/postgres/database.ts'
import { customerUsageLimitReachedError, firstOrderAlreadyPlacedError } from '../errors.ts'
import type { HasEarlierOrder } from './order-history.ts'
import * as repository from './repository.ts'
import { addLimitedPromotionUses } from './usage-limits-repository.ts'

/** A use of a promotion, and of the code that it needed. */
type PromotionUse = { readonly promotion_id: string; readonly code_id: string | null }

/**
 * Counts these uses of promotions and codes for an order. Rejects an order that exceeds the limit of a promotion,
 * a code or a customer. Also rejects a later order that uses a promotion for first orders.
 * @throws `PRICING_USED_UP` at the commit, `PRICING_CUSTOMER_LIMIT`, `PRICING_FIRST_ORDER_TAKEN`
 */
export async function enforcePromotionUsageLimits(
  tx: Transaction,
  { owner, customer, mailbox }: { owner: string; customer: string; mailbox: string | null },
  uses: readonly PromotionUse[],
  hasOrdered: HasEarlierOrder
): Promise<void> {
  const promotion_ids = uses.map(use => use.promotion_id)
  const counted = await tx.rows(repository.incrementCustomerPromotionUses, {
    customer,
    mailbox,
    promotion_ids
  })
  if (counted.some(row => row.uses_per_customer !== null && row.taken > row.uses_per_customer))
    throw customerUsageLimitReachedError()
  if (counted.some(row => row.first_order_only)) {
    // Of two simultaneous orders one gets the row. Earlier orders are known to the orders module.
    const first = await tx.first(repository.claimFirstOrderOfCustomer, { customer, owner })
    if (first?.owner !== owner || (await hasOrdered(tx, customer, owner, mailbox)))
      throw firstOrderAlreadyPlacedError()
  }
  // Limits are contended rows, so they are updated with the commit and locked briefly.
  tx.withCommit(() => tx.run(addLimitedPromotionUses, { ids: limitIdsOf(uses), uses: 1 }))
}

/** Subtracts the uses of a canceled order from the limits. */
export async function releasePromotionUses(
  tx: Transaction,
  { owner, customer }: { owner: string; customer: string },
  uses: readonly PromotionUse[]
): Promise<void> {
  const promotion_ids = uses.map(use => use.promotion_id)
  await tx.run(repository.decrementCustomerPromotionUses, { customer, promotion_ids })
  await tx.run(repository.releaseFirstOrderClaim, { customer, owner })
  tx.withCommit(() => tx.run(addLimitedPromotionUses, { ids: limitIdsOf(uses), uses: -1 }))
}

const limitIdsOf = (uses: readonly PromotionUse[]): string[] =>
  uses.flatMap(({ promotion_id, code_id }) => (code_id === null ? [promotion_id] : [promotion_id, code_id]))
