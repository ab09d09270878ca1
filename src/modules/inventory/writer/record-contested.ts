import type { Transaction } from '../../../platform/postgres/database.ts'
import type { InventoryItemQuantity } from '../decisions/state.ts'
import type { StockBatchPublisher } from './batch.ts'
import {
  addContestedStockUnits,
  deleteContestedStockUnitsOfOrders,
  reduceContestedUnitsOfOwners
} from './repository.ts'
import type { PendingStockRequest, StockRequestOutcome } from './requests.ts'

type OwnedPart = InventoryItemQuantity & { readonly owner: string }

/** Columns for the statements of `inventory.contested`. */
export const contestedStockUnitColumns = (parts: readonly OwnedPart[]) => ({
  owners: parts.map(({ owner }) => owner),
  itemIds: parts.map(({ itemId }) => itemId),
  quantities: parts.map(({ quantity }) => quantity)
})

/**
 * Records which units orders contest after these requests, in the batch's transaction. An order that took units no longer
 * contests any, and an order that lost units contests these. Emits an event for each of both. An order may release or ship
 * more units than it has reserved. It lost the others to a request that was posted earlier, so it contests them no more.
 */
export async function recordContestedStockUnits(
  tx: Transaction,
  publisher: Pick<StockBatchPublisher, 'emitTaken' | 'emitLost'>,
  requests: readonly PendingStockRequest[],
  outcomes: readonly StockRequestOutcome[]
): Promise<void> {
  const takers: string[] = []
  const lost: OwnedPart[] = []
  const released: string[] = []
  const surplus: OwnedPart[] = []
  for (const [index, { operation }] of requests.entries()) {
    const outcome = outcomes[index]
    if (operation.kind === 'take') publisher.emitTaken(tx, operation, outcome?.kind === 'took')
    if (operation.kind === 'take' && outcome?.kind === 'took') {
      takers.push(operation.owner)
      for (const loss of outcome.lost) {
        publisher.emitLost(tx, loss)
        lost.push(...loss.parts.map(part => ({ owner: loss.owner, ...part })))
      }
    }
    if (outcome?.kind !== 'done' || !('owner' in operation)) continue
    const { owner } = operation
    if (operation.kind === 'release' && operation.parts === null) released.push(owner)
    surplus.push(...(outcome.surplus ?? []).map(part => ({ owner, ...part })))
  }
  if (takers.length > 0) await tx.run(deleteContestedStockUnitsOfOrders, { owners: takers })
  if (lost.length > 0) await tx.run(addContestedStockUnits, contestedStockUnitColumns(lost))
  if (released.length > 0) await tx.run(deleteContestedStockUnitsOfOrders, { owners: released })
  for (const part of surplus) await tx.run(reduceContestedUnitsOfOwners, contestedStockUnitColumns([part]))
}
