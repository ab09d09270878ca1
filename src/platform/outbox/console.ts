import { FIRST_ID } from '../../kernel/ids.ts'
import { type Page, readPage } from '../../kernel/pages.ts'
import type { PageQuery } from '../../kernel/wire.ts'
import type { Database, Transaction } from '../postgres/database.ts'
import type { RowOf } from '../postgres/statement.ts'
import * as overview from './overview.ts'
import * as repository from './rows.ts'

/** `dead`: tried in vain so often that it is not tried any more. `failing`: to be tried again. `pending`: all else. */
type DeliveryState = 'dead' | 'failing' | 'pending'
/** An event for one of its consumers, or a job. `due_at` is null when it is not tried by itself any more. */
type DeliveryRow = RowOf<typeof repository.listFailed>

/** Of one handler, or of all. */
type Some = { readonly handler: string | null; readonly limit: number }

/** What an administrator sees and does of deliveries. */
export type Console = {
  /** The oldest first; of one handler, or of all. */
  list(state: DeliveryState, query: PageQuery & { handler?: string }): Promise<Page<DeliveryRow>>
  /** What there is to do, by handler; of those that have something to do. */
  summary(): Promise<overview.BacklogRow[]>
  /** What is done again and again. */
  schedules(): Promise<overview.ScheduleRow[]>
  /** How many are dead; of one handler, or of all. */
  countDead(handler: string | null): Promise<number>
  /** Tries so many of those that are dead again soon, the oldest first. Answers the handler of each. */
  retryDead(tx: Transaction, some: Some): Promise<string[]>
  /** Takes so many of those that are dead away. Answers the handler of each. */
  discardDead(tx: Transaction, some: Some): Promise<string[]>
  /** Tries it again soon, 10 times at most. False when there is none that failed, or it is being tried just now. */
  retry(tx: Transaction, id: number): Promise<boolean>
  /** Takes it away: its effect never happens, and what waited behind it goes on. False when there is none. */
  discard(tx: Transaction, id: number): Promise<boolean>
}

export function createConsole(db: Database, wake: (handler: string) => void): Console {
  const statementsOf = (state: DeliveryState, handler: string | null) => {
    const dead = state === 'dead'
    return state === 'pending'
      ? {
          rows: (place: Place) => db.rows(repository.listPending, { handler, ...place }),
          total: () => db.first(repository.countPending, { handler })
        }
      : {
          rows: (place: Place) => db.rows(repository.listFailed, { dead, handler, ...place }),
          total: () => db.first(repository.countFailed, { dead, handler })
        }
  }
  const wakeAll = (tx: Transaction, rows: readonly { handler: string }[]) => {
    const handlers = rows.map(({ handler }) => handler)
    tx.afterCommit(() => {
      for (const handler of new Set(handlers)) wake(handler)
    })
    return handlers
  }
  return {
    list: (state, { handler, ...query }) =>
      readPage(query, {
        name: 'deliveries',
        filters: [state, handler],
        start: { after: 0, afterEvent: FIRST_ID },
        placeOf: row => ({ after: row.id, afterEvent: row.event_id }),
        ...statementsOf(state, handler ?? null)
      }),
    summary: () => db.rows(overview.summarize),
    schedules: () => db.rows(overview.listSchedules),
    countDead: async handler => (await db.first(repository.countFailed, { dead: true, handler }))?.total ?? 0,
    retryDead: async (tx, some) => wakeAll(tx, await tx.rows(overview.retryDead, some)),
    discardDead: async (tx, some) => wakeAll(tx, await tx.rows(overview.discardDead, some)),
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
