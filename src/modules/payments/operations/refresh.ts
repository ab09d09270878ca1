import type { RunWithoutRequestSlot } from '../../../platform/idempotency/write.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { OrderPaymentAccountChanges } from '../accounts/changes.ts'
import type { PaymentProviderResponseRecorder } from '../provider-events/response-recorder.ts'
import type { PaymentForProvider } from '../providers/port.ts'
import type { PaymentProviderRegistry } from '../providers/registry.ts'

type Deps = {
  db: Database
  providers: PaymentProviderRegistry
  accounts: OrderPaymentAccountChanges
  recordResponse: PaymentProviderResponseRecorder
}

/** Retrieves a payment from its provider and records the facts. Does nothing when the provider does not respond. */
export const createPaymentRefresher =
  ({ db, providers, accounts, recordResponse }: Deps) =>
  async (
    provider: string,
    payment: PaymentForProvider,
    withoutSlot: RunWithoutRequestSlot = work => work()
  ): Promise<void> => {
    const known = await withoutSlot(() =>
      providers.call(provider, () => providers.get(provider).fetch(payment))
    )
    if (known?.kind !== 'done') return
    const { paymentObjectId: objectId, facts } = known
    await db.transaction(async tx => {
      const account = await accounts.lock(tx, payment.orderId)
      await recordResponse(tx, payment, { source: 'poll', provider, objectId, facts })
      await accounts.settle(tx, account)
    })
  }
export type PaymentRefresher = ReturnType<typeof createPaymentRefresher>
