import type { Transaction } from '../../../platform/postgres/database.ts'
import { addUses } from '../budgets/repository.ts'
import { customerLimit, firstOrderTaken } from '../errors.ts'
import type { Redemption } from '../quote/promotions.ts'
import * as repository from './repository.ts'

/**
 * Takes what a quote says that it redeems, in the caller's transaction; see `PricingApi`. Limits of a promotion and a code are
 * rows that everybody wants: they are changed with the commit, so that nobody holds them any longer.
 */
export async function redeem(
  tx: Transaction,
  owner: string,
  redemptions: readonly Redemption[],
  customer: string
): Promise<void> {
  if (redemptions.length === 0) return
  const taken = await tx.rows(repository.insertRedemptions, {
    owner,
    customer,
    promotion_ids: redemptions.map(({ promotionId }) => promotionId),
    codes: redemptions.map(({ code = '' }) => code)
  })
  if (taken.length === 0) return
  const promotion_ids = taken.map(row => row.promotion_id)
  const uses = await tx.rows(repository.addCustomerUses, { customer, promotion_ids })
  if (uses.some(row => row.uses_per_customer !== null && row.taken > row.uses_per_customer))
    throw customerLimit()
  if (uses.some(row => row.first_order_only)) {
    const first = await tx.first(repository.claimFirstOrder, { customer, owner })
    if (first?.owner !== owner) throw firstOrderTaken()
  }
  tx.withCommit(() => tx.run(addUses, { ids: budgetsOf(taken), uses: 1 }))
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
