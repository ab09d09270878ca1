import type { Transaction } from '../../../platform/postgres/database.ts'
import type { OrdersApi } from '../../orders/index.ts'
import { lockReviewWritesOfCustomers } from '../reviews/repository.ts'
import * as repository from './repository.ts'

/**
 * Updates which reviews of these customers are verified purchases, after their orders changed. Reads the
 * present orders, so that repeated or reordered events give the same result.
 */
export async function updateVerifiedPurchases(
  tx: Transaction,
  customerIds: readonly string[],
  orders: Pick<OrdersApi, 'findPurchased'>
): Promise<void> {
  const customer_ids = [...new Set(customerIds)].sort()
  if (customer_ids.length === 0) return
  await tx.run(lockReviewWritesOfCustomers, { customer_ids })
  const reviews = await tx.rows(repository.listReviewsOfCustomers, { customer_ids })
  const verified: string[] = []
  for (const [customerId, own] of Map.groupBy(reviews, review => review.customer_id ?? '')) {
    const productIds = own.map(review => review.product_id)
    const bought = await orders.findPurchased(tx, customerId, productIds)
    verified.push(...own.filter(review => bought.has(review.product_id)).map(({ id }) => id))
  }
  if (reviews.length > 0)
    await tx.run(repository.setVerifiedPurchases, { ids: reviews.map(({ id }) => id), verified })
}
