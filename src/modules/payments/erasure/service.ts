import type { Transaction } from '../../../platform/postgres/database.ts'
import * as repository from './repository.ts'

/** See `PaymentsApi.forget`. */
export async function forget(
  tx: Transaction,
  customer_id: string,
  orderIds: readonly string[]
): Promise<void> {
  const order_ids = [...orderIds]
  await tx.run(repository.lockAccounts, { order_ids })
  await tx.run(repository.eraseAccounts, { order_ids })
  await tx.run(repository.erasePayments, { order_ids })
  await tx.run(repository.eraseOperations, { customer_id, order_ids })
  await tx.run(repository.eraseEvents, { order_ids })
}
