import { defineJob } from '../../../kernel/events.ts'
import type { Log } from '../../../platform/log.ts'
import type { StockLedgerCheckService } from './service.ts'

const DAY_SECONDS = 86_400

export const checkStockLedgerJob = defineJob(
  'inventory.check_books',
  {
    description: 'Counts the discrepancies of the stock ledger.',
    timeoutSeconds: 3_600,
    intervalSeconds: DAY_SECONDS
  },
  {}
)

/** Logs the discrepancies for the operator; the job repairs nothing. */
export async function runDailyStockLedgerCheck(
  { count }: Pick<StockLedgerCheckService, 'count'>,
  log: Log,
  signal: AbortSignal
): Promise<void> {
  const { total, counts } = await count(signal)
  if (total > 0) log.warn({ total, ...Object.fromEntries(counts) }, 'the stock ledger has discrepancies')
}
