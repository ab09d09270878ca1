import type { Metrics } from '../../../platform/metrics/registry.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import type { Timers } from '../../../platform/timers.ts'
import { STOCK_LEDGER_FINDING_KINDS, type StockLedgerFindingKind } from './findings.ts'
import * as repository from './repository.ts'

const READ_SECONDS = 60

type Deps = { db: Queryable; timers: Timers; metrics: Metrics }

/** Metrics of the latest check by any process. */
export function createStockLedgerFindingMetrics({ db, timers, metrics }: Deps) {
  let known: ReadonlyMap<string, number> = new Map()
  metrics.shopGauge(
    'findings',
    'Discrepancies that the latest stock check found.',
    ({ kind }) => known.get(kind) ?? 0,
    { kind: STOCK_LEDGER_FINDING_KINDS }
  )

  async function read(): Promise<number> {
    known = new Map(
      (await db.rows(repository.listStockLedgerFindingCounts)).map(({ kind, count }) => [kind, count])
    )
    return 0
  }
  timers.every(READ_SECONDS, 'inventory.read_findings', read)

  return {
    read,
    save: async (counts: ReadonlyMap<StockLedgerFindingKind, number>): Promise<void> => {
      await db.run(repository.saveStockLedgerFindingCounts, {
        kinds: STOCK_LEDGER_FINDING_KINDS,
        counts: STOCK_LEDGER_FINDING_KINDS.map(kind => counts.get(kind) ?? 0)
      })
      known = counts
    }
  }
}
export type StockLedgerFindingMetrics = ReturnType<typeof createStockLedgerFindingMetrics>
