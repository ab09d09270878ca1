import { LOWEST_ID } from '../../kernel/ids.ts'
import { type Page, readPage } from '../../kernel/pages.ts'
import type { PageQuery } from '../../kernel/wire.ts'
import type { Database, Transaction } from '../postgres/database.ts'
import type { RowOf } from '../postgres/statement.ts'
import * as administration from './administration-queries.ts'
import * as repository from './job-queries.ts'

/** `dead`: failed permanently. `failing`: failed and will be retried. `pending`: all others. */
type DeliveryState = 'dead' | 'failing' | 'pending'
/** An event for one handler, or a job. `due_at` is null when it is not retried automatically. */
type DeliveryRow = RowOf<typeof repository.listFailedJobs>

/** The oldest dead deliveries of one handler, or of all. */
type DeadDeliverySelection = { readonly handler: string | null; readonly limit: number }

/** Deliveries, for administrators. */
export type OutboxConsole = {
  /** Lists deliveries, the oldest first, of one handler or of all. */
  list(state: DeliveryState, query: PageQuery & { handler?: string }): Promise<Page<DeliveryRow>>
  /** Returns the backlog of each handler that has one. */
  summary(): Promise<administration.HandlerBacklogRow[]>
  /** Lists the schedules of recurring jobs. */
  schedules(): Promise<administration.JobScheduleRow[]>
  /** Counts dead deliveries, of one handler or of all. */
  countDead(handler: string | null): Promise<number>
  /** Retries up to `limit` dead deliveries, the oldest first. Returns the handler of each. */
  retryDead(tx: Transaction, selection: DeadDeliverySelection): Promise<string[]>
  /** Deletes up to `limit` dead deliveries. Returns the handler of each. */
  discardDead(tx: Transaction, selection: DeadDeliverySelection): Promise<string[]>
  /** Retries a failed delivery soon, with up to 10 attempts. Returns false when there is none or an attempt is running. */
  retry(tx: Transaction, id: number): Promise<boolean>
  /** Deletes a delivery: it is never handled, and later ones of its subject continue. Returns false when there is none. */
  discard(tx: Transaction, id: number): Promise<boolean>
}

export function createOutboxConsole(db: Database, wake: (handler: string) => void): OutboxConsole {
  const statementsOf = (state: DeliveryState, handler: string | null) => {
    const dead = state === 'dead'
    return state === 'pending'
      ? {
          rows: (position: DeliveryPosition) => db.rows(repository.listPendingJobs, { handler, ...position }),
          total: () => db.first(repository.countPendingJobs, { handler })
        }
      : {
          rows: (position: DeliveryPosition) =>
            db.rows(repository.listFailedJobs, { dead, handler, ...position }),
          total: () => db.first(repository.countFailedJobs, { dead, handler })
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
        start: { after: 0, afterEvent: LOWEST_ID },
        placeOf: row => ({ after: row.id, afterEvent: row.event_id }),
        ...statementsOf(state, handler ?? null)
      }),
    summary: () => db.rows(administration.summarizeHandlerBacklogs),
    schedules: () => db.rows(administration.listJobSchedules),
    countDead: async handler =>
      (await db.first(repository.countFailedJobs, { dead: true, handler }))?.total ?? 0,
    retryDead: async (tx, selection) => wakeAll(tx, await tx.rows(administration.retryDeadJobs, selection)),
    discardDead: async (tx, selection) =>
      wakeAll(tx, await tx.rows(administration.deleteDeadJobs, selection)),
    retry: async (tx, id) => {
      const retried = await tx.first(repository.retryFailedJob, { id })
      if (retried !== undefined) tx.afterCommit(() => wake(retried.handler))
      return retried !== undefined
    },
    discard: async (tx, id) => {
      const discarded = await tx.first(repository.deleteJob, { id })
      if (discarded === undefined) return false
      await tx.run(repository.makeJobsBehindFailedDue, discarded)
      tx.afterCommit(() => wake(discarded.handler))
      return true
    }
  }
}

type DeliveryPosition = { after: number; afterEvent: string; limit: number }
