import type { Transaction } from '../../../platform/postgres/database.ts'
import type { StockBatchPublisher } from './batch.ts'
import { addContestedUnits, deleteContestedUnits } from './repository.ts'
import type { PendingStockRequest, StockRequestOutcome } from './requests.ts'

/**
 * Records the outcomes of take requests in the batch's transaction. Their owners no longer contest units;
 * owners that lost units contest these. Emits an event for each order.
 */
export async function recordTakeOutcomes(
  tx: Transaction,
  publisher: Pick<StockBatchPublisher, 'emitTaken' | 'emitLost'>,
  requests: readonly PendingStockRequest[],
  outcomes: readonly StockRequestOutcome[]
): Promise<void> {
  const owners: string[] = []
  const lost: { owner: string; itemId: string; quantity: number }[] = []
  for (const [index, { operation }] of requests.entries()) {
    if (operation.kind !== 'take') continue
    const outcome = outcomes[index]
    publisher.emitTaken(tx, operation, outcome?.kind === 'took')
    if (outcome?.kind !== 'took') continue
    owners.push(operation.owner)
    for (const loss of outcome.lost) {
      publisher.emitLost(tx, loss)
      lost.push(...loss.parts.map(part => ({ owner: loss.owner, ...part })))
    }
  }
  if (owners.length > 0) await tx.run(deleteContestedUnits, { owners })
  if (lost.length > 0)
    await tx.run(addContestedUnits, {
      owners: lost.map(({ owner }) => owner),
      itemIds: lost.map(({ itemId }) => itemId),
      quantities: lost.map(({ quantity }) => quantity)
    })
}
