import type { Transaction } from '../../../platform/postgres/database.ts'
import type { OrdersApi } from '../../orders/index.ts'
import { lockCustomers } from '../reviews/repository.ts'
import * as repository from './repository.ts'

/**
 * Orders of these customers have changed: brings up to date which of their reviews are of something that they have bought. It asks
 * what is true now, so that neither the order nor the number of times matters in which it is told to.
 */
export async function followPurchases(
  tx: Transaction,
  customerIds: readonly string[],
  orders: Pick<OrdersApi, 'bought'>
): Promise<void> {
  const customer_ids = [...new Set(customerIds)].sort()
  if (customer_ids.length === 0) return
  await tx.run(lockCustomers, { customer_ids })
  const reviews = await tx.rows(repository.listReviewed, { customer_ids })
  const verified: string[] = []
  for (const [customerId, own] of Map.groupBy(reviews, review => review.customer_id ?? '')) {
    const productIds = own.map(review => review.product_id)
    const bought = await orders.bought(tx, customerId, productIds)
    verified.push(...own.filter(review => bought.has(review.product_id)).map(({ id }) => id))
  }
  if (reviews.length > 0)
    await tx.run(repository.updateVerified, { ids: reviews.map(({ id }) => id), verified })
}
