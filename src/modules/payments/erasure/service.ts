import type { PersonalDataHandler } from '../../../platform/personal-data.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import * as repository from './repository.ts'

/** See `PaymentsApi.erase`. */
export async function erasePaymentData(
  tx: Transaction,
  customer_id: string | null,
  orderIds: readonly string[]
): Promise<void> {
  const order_ids = [...orderIds]
  await tx.run(repository.lockOrderPaymentAccounts, { order_ids })
  await tx.run(repository.eraseOrderPaymentAccountOwners, { order_ids })
  await tx.run(repository.erasePaymentOwners, { order_ids })
  await tx.run(repository.erasePaymentOperationReasons, { customer_id, order_ids })
  await tx.run(repository.eraseProviderEventBytes, { order_ids })
}

/** Personal data in payments. `erase` does nothing, because orders erase it by order id: see `PaymentsApi.erase`. */
export const paymentPersonalData = (db: Database): PersonalDataHandler => ({
  erase: async () => {},
  export: async customer_id => ({
    payments: await db.rows(repository.exportPaymentsOfCustomer, { customer_id })
  }),
  guests: {
    erase: async () => {},
    export: async ({ orderIds }) => ({
      payments: await db.rows(repository.exportPaymentsOfOrders, { order_ids: orderIds })
    })
  }
})
