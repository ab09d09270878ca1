import { definePort } from '../../../kernel/ports.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'

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

/** Without a provider, only redemptions of first-order promotions count as earlier orders. */
export const orderHistoryPort = definePort<HasEarlierOrder>('pricing.order_history', {
  description: 'Finds out who has ordered before, for promotions on first orders.',
  providers: 'one'
})
