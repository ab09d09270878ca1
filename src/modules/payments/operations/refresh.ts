import type { Database } from '../../../platform/postgres/database.ts'
import type { FactRecorder } from '../facts/recorder.ts'
import { lockPaymentAccount } from '../facts/repository.ts'
import type { ProviderResponseRecorder } from '../provider-events/response-recorder.ts'
import type { ProviderPayment } from '../providers/port.ts'
import type { PaymentProviderRegistry } from '../providers/registry.ts'

type Deps = {
  db: Database
  providers: PaymentProviderRegistry
  recorder: FactRecorder
  recordResponse: ProviderResponseRecorder
}

/** Retrieves a payment from its provider and records the facts. Does nothing when the provider does not respond. */
export const createPaymentRefresher =
  ({ db, providers, recorder, recordResponse }: Deps) =>
  async (provider: string, payment: ProviderPayment): Promise<void> => {
    const known = await providers.call(provider, () => providers.get(provider).fetch(payment))
    if (known?.kind !== 'done') return
    const { paymentObjectId: objectId, facts } = known
    await db.transaction(async tx => {
      await tx.run(lockPaymentAccount, { order_id: payment.orderId })
      await recordResponse(tx, payment, { source: 'poll', provider, objectId, facts })
      await recorder.settle(tx, payment.orderId)
    })
  }
export type PaymentRefresher = ReturnType<typeof createPaymentRefresher>
