import { newId } from '../../src/kernel/ids.ts'
import { decideStockOperations } from '../../src/modules/inventory/decisions/decide.ts'
import type { StockOperation } from '../../src/modules/inventory/decisions/state.ts'
import {
  countStockDecisionWrites,
  lockAndReadStock,
  writeStockBatchDecision
} from '../../src/modules/inventory/writer/batch.ts'
import type { Database } from '../../src/platform/postgres/database.ts'

/**
 * Reserves without the writer, in one transaction per basket: the baseline that the writer is compared
 * with.
 */
export async function reserveAlone(
  db: Database,
  owner: string,
  lines: readonly { variantId: string; quantity: number }[]
): Promise<void> {
  const needs = lines.map(line => ({ ...line, parts: [{ itemId: line.variantId, quantity: 1 }] }))
  const operation: StockOperation = { kind: 'reserve', id: newId(), owner, needs, seconds: 120 }
  const outcome = await db.transaction(async tx => {
    const items = new Set(lines.map(({ variantId }) => variantId))
    const { stock } = await lockAndReadStock(tx, [operation], { items, isWaiting: true, kitsOf: new Map() })
    const decided = decideStockOperations(stock, [operation])
    if (countStockDecisionWrites(decided) > 0) tx.withCommit(() => writeStockBatchDecision(tx, decided))
    return decided.outcomes[0]
  })
  if (outcome?.kind !== 'reserved') throw new Error(outcome?.kind)
}
