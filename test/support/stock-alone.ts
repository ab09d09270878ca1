import { newId } from '../../src/kernel/ids.ts'
import { decide } from '../../src/modules/inventory/stock/decide.ts'
import type { Operation } from '../../src/modules/inventory/stock/state.ts'
import { readStock, write, writesOf } from '../../src/modules/inventory/writer/batch.ts'
import type { Database } from '../../src/platform/postgres/database.ts'

/** Reserves without the writer, in a transaction for each basket: what the writer is compared with. */
export async function reserveAlone(
  db: Database,
  owner: string,
  lines: readonly { variantId: string; quantity: number }[]
): Promise<void> {
  const needs = lines.map(line => ({ ...line, parts: [{ itemId: line.variantId, quantity: 1 }] }))
  const operation: Operation = { kind: 'reserve', id: newId(), owner, needs, seconds: 120 }
  const outcome = await db.transaction(async tx => {
    const items = new Set(lines.map(({ variantId }) => variantId))
    const { stock } = await readStock(tx, [operation], { items, isWaiting: true, kitsOf: new Map() })
    const decided = decide(stock, [operation])
    if (writesOf(decided) > 0) tx.withCommit(() => write(tx, decided))
    return decided.outcomes[0]
  })
  if (outcome?.kind !== 'reserved') throw new Error(outcome?.kind)
}
