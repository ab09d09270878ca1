import type { Log } from '../../../platform/log.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { type Changes, SYSTEM } from '../changes/service.ts'
import * as repository from './repository.ts'

type Deps = {
  db: Database
  log: Pick<Log, 'error'>
  changes: Changes
  /** So long nothing has happened to it: whoever wanted to send it back has done so. */
  seconds: number
}

/** What is left over is done the next time. */
const AT_ONCE_MAX = 1_000

/** Orders that are sent and paid are done when nobody has wanted anything of them for long enough. */
export function createCompletion({ db, log, changes, seconds }: Deps) {
  async function complete(tx: Transaction, id: string): Promise<void> {
    const hand = await changes.take(tx, id)
    if ((await tx.first(repository.findDone, { id, seconds })) === undefined) return
    changes.judge(hand, 'complete', SYSTEM)
    await changes.write(tx, hand, 'complete', SYSTEM)
  }

  /** One that cannot be completed holds up no other. */
  const completeSurely = (id: string) =>
    db
      .transaction(tx => complete(tx, id))
      .catch(error => log.error({ err: error, order: id }, 'an order that is done could not be completed'))

  return async (signal: AbortSignal): Promise<void> => {
    const done = await db.rows(repository.listDone, { seconds, limit: AT_ONCE_MAX })
    for (const { id } of done) if (!signal.aborted) await completeSurely(id)
  }
}
