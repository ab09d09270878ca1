import type { Database } from '../../../platform/postgres/database.ts'
import { measureOpenPaymentOperations } from '../payments/operation-repository.ts'
import { countUnappliedProviderEvents } from '../provider-events/repository.ts'
import type { PaymentProviderRegistry } from '../providers/registry.ts'
import type { PaymentReconciliationResponse } from './routes.ts'

/** Returns a function that reads how far the shop and its providers agree. */
export const createPaymentReconciliationStatusReader =
  ({ db, providers }: { db: Database; providers: PaymentProviderRegistry }) =>
  async (): Promise<PaymentReconciliationResponse> => {
    const open = await db.first(measureOpenPaymentOperations)
    const events = await db.rows(countUnappliedProviderEvents)
    const count = (state: string) => events.find(each => each.state === state)?.total ?? 0
    return {
      providers: providers.names().map(name => ({ name, is_down: providers.isDown(name) })),
      open_operations: open?.total ?? 0,
      oldest_seconds: open?.oldest_seconds ?? 0,
      events: { received: count('received'), quarantined: count('quarantined') }
    }
  }
