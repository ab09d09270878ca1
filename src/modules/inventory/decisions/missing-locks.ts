import { isReservationOpen, type MutableReservation, type WorkingStockLedger } from './ledger.ts'
import { findShipmentStockMovements, STOCK_RELEASE_AND_SHIPMENT_RULES } from './order-changes.ts'
import type { StockOperation } from './state.ts'

/** Returns the reservations that an operation may change. */
function rowsFor(ledger: WorkingStockLedger, operation: StockOperation): readonly MutableReservation[] {
  if (operation.kind === 'count' || operation.kind === 'adjust' || operation.kind === 'return') return []
  const rows = ledger.rowsOf(operation.owner)
  if (operation.kind === 'drop') return rows.filter(row => row.state === 'held' || !row.isUnlocked)
  // A reservation that is being claimed does not expire.
  if (operation.kind === 'expire')
    return rows.every(row => row.isUnlocked) ? rows.filter(row => row.state === 'held' && row.isExpired) : []
  return rows.filter(row => isReservationOpen(row) || !row.isUnlocked)
}

function itemsFor(ledger: WorkingStockLedger, operation: StockOperation): readonly string[] {
  switch (operation.kind) {
    case 'reserve':
      return operation.needs.flatMap(need => need.parts.map(part => part.itemId))
    case 'ship':
    case 'return':
      return (operation.parts ?? []).map(part => part.itemId)
    case 'take':
      return operation.parts.map(part => part.itemId)
    case 'unship':
      return findShipmentStockMovements(ledger, operation, STOCK_RELEASE_AND_SHIPMENT_RULES).map(
        ({ itemId }) => itemId
      )
    case 'count':
    case 'adjust':
      return operation.lines.map(line => line.itemId)
    default:
      return []
  }
}

/** Returns the items that must be locked before the operation can be decided; undefined: none. */
export function findUnlockedStockItems(
  ledger: WorkingStockLedger,
  operation: StockOperation
): { itemIds: readonly string[]; isRow: boolean } | undefined {
  const rows = rowsFor(ledger, operation)
  const isOfUntracked = ['count', 'adjust', 'unship'].includes(operation.kind)
  const items = itemsFor(ledger, operation).filter(
    itemId => !ledger.isLocked(itemId) && (isOfUntracked || ledger.item(itemId)?.tracked !== false)
  )
  const taken = rows.filter(row => !row.isUnlocked)
  const unlocked = rows.filter(row => !ledger.isLocked(row.itemId))
  if (items.length + taken.length + unlocked.length === 0) return undefined
  const itemIds = new Set([...items, ...[...taken, ...unlocked].map(row => row.itemId)])
  return { itemIds: [...itemIds], isRow: taken.length > 0 }
}
