import type { Database } from '../../../platform/postgres/database.ts'
import type { Recorder } from '../facts/recorder.ts'
import { lockAccount } from '../facts/repository.ts'
import type { ResponseRecorder } from '../provider-events/response-recorder.ts'
import type { PaymentRef } from '../providers/port.ts'
import type { Providers } from '../providers/registry.ts'

type Deps = { db: Database; providers: Providers; recorder: Recorder; recordResponse: ResponseRecorder }

/** Retrieves a payment from its provider and records the facts. Does nothing when the provider does not respond. */
export const createPaymentRefresher =
  ({ db, providers, recorder, recordResponse }: Deps) =>
  async (provider: string, payment: PaymentRef): Promise<void> => {
    const known = await providers.call(provider, () => providers.get(provider).fetch(payment))
    if (known?.kind !== 'done') return
    const { paymentObjectId: objectId, facts } = known
    await db.transaction(async tx => {
      await tx.run(lockAccount, { order_id: payment.orderId })
      await recordResponse(tx, payment, { source: 'poll', provider, objectId, facts })
      await recorder.settle(tx, payment.orderId)
    })
  }
export type PaymentRefresher = ReturnType<typeof createPaymentRefresher>
