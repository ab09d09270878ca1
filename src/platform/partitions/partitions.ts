import { AsyncLocalStorage } from 'node:async_hooks'
import type { DiagnosisCheck } from '../../kernel/diagnosis.ts'
import type { Log } from '../log.ts'
import type { Database, Transaction } from '../postgres/database.ts'
import { isDatabaseAvailabilityError } from '../postgres/errors.ts'
import type { Timers } from '../timers.ts'
import { diagnosePartitions } from './diagnosis.ts'
import { createPartitions, dropOldestPartition, type PartitionPeriod } from './queries.ts'

/** A table that is partitioned by time, and how long its rows are kept. */
export type PartitionedTable = {
  /** With its schema, such as `orders.history`. */
  readonly table: string
  readonly period: PartitionPeriod
  /** Returns the time before which rows are expired. Null: rows are kept for ever. */
  keptSince(now: Date): Date | null
  /** Deletes what belongs to the expired rows, in the transaction that drops a partition. */
  dropWith?(tx: Transaction, keptSince: Date): Promise<unknown>
}
/** Creates the partitions of tables ahead of time, and drops expired ones. */
export type Partitions = {
  /** Adds a table. Modules do so during set-up. */
  keep(table: PartitionedTable): void
  /**
   * Creates and drops partitions as of a time. Returns how many it created and dropped. A table that a long statement
   * locks is skipped: the next hour tries again.
   */
  maintain(now: Date): Promise<number>
  /** Begins to create missing partitions, without waiting for them: rows of a missing one are in the default partition. */
  start(): void
  stop(): Promise<void>
  readonly diagnoses: readonly DiagnosisCheck[]
}

const MAINTENANCE_SECONDS = 3_600
/** Partitions are created this far ahead, so that a shop whose timers fail for weeks still has them. */
const PERIODS_AHEAD = { week: 4, month: 3, year: 1 } as const satisfies Record<PartitionPeriod, number>

export function createPartitionMaintenance({
  db,
  log,
  timers
}: {
  db: Database
  log: Log
  timers: Pick<Timers, 'every'>
}): Partitions {
  const tables: PartitionedTable[] = []
  const inOwnContext = AsyncLocalStorage.snapshot()
  let starting: Promise<unknown> = Promise.resolve()

  /** One statement for all tables, because nearly always it creates nothing. */
  async function createAhead(at: Date): Promise<number> {
    const wanted = {
      tables: tables.map(({ table }) => table),
      periods: tables.map(({ period }) => period),
      ahead: tables.map(({ period }) => PERIODS_AHEAD[period]),
      at
    }
    return db.transaction(async tx => (await tx.first(createPartitions, wanted))?.created ?? 0)
  }

  /** Drops one partition in each transaction, so that each holds its lock for milliseconds. */
  async function dropExpired({ table, period, keptSince, dropWith }: PartitionedTable, now: Date) {
    const before = keptSince(now)
    if (before === null) return 0
    for (let dropped = 0; ; dropped += 1) {
      const isDropped = await db.transaction(async tx => {
        await dropWith?.(tx, before)
        return (await tx.first(dropOldestPartition, { table, period, before }))?.is_dropped === true
      })
      if (!isDropped) return dropped
    }
  }

  /** The transaction was retried already when a lock was not free. */
  async function unlessLocked(about: string, work: () => Promise<number>): Promise<number> {
    try {
      return await work()
    } catch (error) {
      if (!isDatabaseAvailabilityError(error)) throw error
      log.warn({ err: error }, `${about} now; the next hour tries again`)
      return 0
    }
  }
  const createUnlessLocked = (at: Date) => unlessLocked('partitions cannot be created', () => createAhead(at))

  async function maintain(now: Date): Promise<number> {
    let changed = 0
    for (const each of tables)
      changed += await unlessLocked(`partitions of ${each.table} cannot be dropped`, () =>
        dropExpired(each, now)
      )
    return changed + (await createUnlessLocked(now))
  }

  timers.every(MAINTENANCE_SECONDS, 'create and drop partitions', () => maintain(new Date()))
  return {
    keep: table => void tables.push(table),
    maintain,
    diagnoses: [diagnosePartitions(db, tables)],
    start: () => {
      starting = inOwnContext(() => createUnlessLocked(new Date())).catch((error: unknown) =>
        log.error({ err: error }, 'creating partitions failed; the next hour tries again')
      )
    },
    stop: async () => {
      await starting
    }
  }
}
