import type { Delivery } from '../../../kernel/events.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import { deleteMailsOf, deleteMessagesOf } from './repository.ts'

/** Nothing says any more what somebody was told who has left; what was still to be told is not. */
export async function forget(
  tx: Transaction,
  events: readonly Delivery<{ readonly user_id: string }>[]
): Promise<void> {
  const customer_ids = events.map(({ payload }) => payload.user_id)
  await tx.run(deleteMailsOf, { customer_ids })
  await tx.run(deleteMessagesOf, { customer_ids })
}
