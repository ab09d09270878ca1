import type { Database } from '../../../platform/postgres/database.ts'
import { measureOpen } from '../operations/repository.ts'
import { countEvents } from '../provider-events/repository.ts'
import type { Providers } from '../providers/registry.ts'
import type { ReconciliationResponse } from './routes.ts'

/** Returns a function that reads how far the shop and its providers agree. */
export const createReconciliationStatus =
  ({ db, providers }: { db: Database; providers: Providers }) =>
  async (): Promise<ReconciliationResponse> => {
    const open = await db.first(measureOpen)
    const events = await db.rows(countEvents)
    const count = (state: string) => events.find(each => each.state === state)?.total ?? 0
    return {
      providers: providers.names.map(name => ({ name, is_down: providers.isDown(name) })),
      open_operations: open?.total ?? 0,
      oldest_seconds: open?.oldest_seconds ?? 0,
      events: { received: count('received'), quarantined: count('quarantined') }
    }
  }
