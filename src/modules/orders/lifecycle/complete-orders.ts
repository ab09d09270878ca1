import type { Log } from '../../../platform/log.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import * as repository from './completion-repository.ts'
import { type OrderTransitions, SYSTEM_ACTOR } from './service.ts'

type Deps = {
  db: Database
  log: Pick<Log, 'error'>
  changes: OrderTransitions
  /** Seconds without a change after which an order is completed: the time for returns. */
  seconds: number
}

/** Maximum number of orders of one run. The next run completes the rest. */
const BATCH_MAX = 1_000

/** Completes fully shipped and paid orders that have not changed for long enough. */
export function createOrderCompleter({ db, log, changes, seconds }: Deps) {
  async function complete(tx: Transaction, id: string): Promise<void> {
    const locked = await changes.lock(tx, id)
    if ((await tx.first(repository.findOrderIfStillCompletable, { id, seconds })) === undefined) return
    changes.assertAllowed(locked, 'complete', SYSTEM_ACTOR)
    await changes.transition(tx, locked, 'complete', SYSTEM_ACTOR)
  }

  /** Logs a failure, so that one order does not keep the others from being completed. */
  const completeOrLog = (id: string) =>
    db
      .transaction(tx => complete(tx, id))
      .catch(error =>
        log.error({ err: error, order: id }, 'a fully shipped and paid order could not be completed')
      )

  return async (signal: AbortSignal): Promise<void> => {
    const done = await db.rows(repository.listOrdersToComplete, { seconds, limit: BATCH_MAX })
    for (const { id } of done) if (!signal.aborted) await completeOrLog(id)
  }
}
