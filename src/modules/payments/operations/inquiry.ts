import type { Database } from '../../../platform/postgres/database.ts'
import type { Recorder } from '../facts/recorder.ts'
import { lockAccount } from '../facts/repository.ts'
import type { PaymentRef } from '../providers/port.ts'
import type { Providers } from '../providers/registry.ts'
import type { Hearing } from '../quarantine/hearing.ts'

type Deps = { db: Database; providers: Providers; recorder: Recorder; hear: Hearing }

/** Asks a provider how a payment is, and records what it says. When it does not answer, nothing more is known. */
export const createInquiry =
  ({ db, providers, recorder, hear }: Deps) =>
  async (provider: string, payment: PaymentRef): Promise<void> => {
    const known = await providers.guard(provider, () => providers.get(provider).fetch(payment))
    if (known?.kind !== 'done') return
    const { paymentObjectId: objectId, facts } = known
    await db.transaction(async tx => {
      await tx.run(lockAccount, { order_id: payment.orderId })
      await hear(tx, payment, { source: 'poll', provider, objectId, facts })
      await recorder.settle(tx, payment.orderId)
    })
  }
export type Inquiry = ReturnType<typeof createInquiry>
