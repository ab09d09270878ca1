import { FIRST_ID } from '../../kernel/ids.ts'
import { type Page, readPage } from '../../kernel/pages.ts'
import type { PageQuery } from '../../kernel/wire.ts'
import type { Database, Transaction } from '../postgres/database.ts'
import type { RowOf } from '../postgres/statement.ts'
import * as repository from './rows.ts'

/** `dead`: tried in vain so often that it is not tried any more. `failing`: to be tried again. `pending`: all else. */
type DeliveryState = 'dead' | 'failing' | 'pending'
/** An event for one of its consumers, or a job. `due_at` is null when it is not tried by itself any more. */
type DeliveryRow = RowOf<typeof repository.listFailed>

/** What an administrator sees and does of deliveries. */
export type Console = {
  /** The oldest first. */
  list(state: DeliveryState, query: PageQuery): Promise<Page<DeliveryRow>>
  /** Tries it again soon, 10 times at most. False when there is none that failed, or it is being tried just now. */
  retry(tx: Transaction, id: number): Promise<boolean>
  /** Takes it away: its effect never happens, and what waited behind it goes on. False when there is none. */
  discard(tx: Transaction, id: number): Promise<boolean>
}

export function createConsole(db: Database, wake: (handler: string) => void): Console {
  const statementsOf = (state: DeliveryState) => {
    const dead = state === 'dead'
    return state === 'pending'
      ? {
          rows: (place: Place) => db.rows(repository.listPending, place),
          total: () => db.first(repository.countPending)
        }
      : {
          rows: (place: Place) => db.rows(repository.listFailed, { dead, ...place }),
          total: () => db.first(repository.countFailed, { dead })
        }
  }
  return {
    list: (state, query) =>
      readPage(query, {
        name: 'deliveries',
        filters: state,
        start: { after: 0, afterEvent: FIRST_ID },
        placeOf: row => ({ after: row.id, afterEvent: row.event_id }),
        ...statementsOf(state)
      }),
    retry: async (tx, id) => {
      const retried = await tx.first(repository.retry, { id })
      if (retried !== undefined) tx.afterCommit(() => wake(retried.handler))
      return retried !== undefined
    },
    discard: async (tx, id) => {
      const discarded = await tx.first(repository.discard, { id })
      if (discarded === undefined) return false
      await tx.run(repository.wakeBehind, discarded)
      tx.afterCommit(() => wake(discarded.handler))
      return true
    }
  }
}

type Place = { after: number; afterEvent: string; limit: number }
