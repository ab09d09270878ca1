import { STOCK_ALLOCATION_RULE_FUNCTIONS } from './allocation.ts'
import type { StockDecisionBranchListener } from './branches.ts'
import { CONTESTED_STOCK_TAKING_RULES, takeContestedStockUnits } from './contested-stock.ts'
import { applyCountOrAdjustment } from './counts.ts'
import { createWorkingStockLedger, type MutableStockLevel, type WorkingStockLedger } from './ledger.ts'
import { findUnlockedStockItems } from './missing-locks.ts'
import {
  isStockLevelShort,
  recordReturnedUnitsInStock,
  recordShippedUnitsInStock,
  releaseHeldReservations,
  releaseOrderUnits,
  STOCK_RELEASE_AND_SHIPMENT_RULES,
  undoShippedUnits
} from './order-changes.ts'
import { reserveAllOrNothing, STOCK_RESERVE_OPERATION_RULES } from './reserve.ts'
import type {
  LockedStockState,
  StockBatchDecision,
  StockLevel,
  StockOperation,
  StockOperationOutcome,
  StockStatusChange
} from './state.ts'
import { findStockStatusChanges } from './status-changes.ts'

/** The rules of stock decisions. They are an argument, so that a test can inject a fault in one. */
export const STOCK_DECISION_RULES = {
  ...STOCK_ALLOCATION_RULE_FUNCTIONS,
  ...STOCK_RELEASE_AND_SHIPMENT_RULES,
  ...STOCK_RESERVE_OPERATION_RULES,
  ...CONTESTED_STOCK_TAKING_RULES
}

/**
 * Decides what these operations change, one after the other. Pure: the given stock is not modified. `note`
 * is called with each case that occurs.
 */
export function decideStockOperations(
  stock: LockedStockState,
  operations: readonly StockOperation[],
  note: StockDecisionBranchListener = () => {},
  rules = STOCK_DECISION_RULES
): StockBatchDecision {
  const ledger = createWorkingStockLedger(stock)
  /**
   * Levels changed by a count, an adjustment, a shipment or its undoing. These are never refused, so they
   * can leave a level short.
   */
  const facts = new Set<MutableStockLevel>()
  const isShortNow = (level: MutableStockLevel) =>
    isStockLevelShort(ledger.item(level.itemId), ledger.levelsOf(level.itemId), level)

  function settle(operation: StockOperation): StockOperationOutcome {
    const missing = findUnlockedStockItems(ledger, operation)
    if (missing !== undefined) {
      note(missing.isRow ? 'later-row' : 'later-level')
      return { kind: 'later', itemIds: missing.itemIds }
    }
    switch (operation.kind) {
      case 'reserve':
        return reserveAllOrNothing(ledger, operation, rules, note)
      case 'drop':
      case 'expire':
        return releaseHeldReservations(ledger, operation, rules, note)
      case 'release':
        return releaseOrderUnits(ledger, operation, rules, note)
      case 'take':
        return takeContestedStockUnits(ledger, operation, rules, note)
      case 'return':
        return recordReturnedUnitsInStock(ledger, operation, note)
      case 'ship': {
        const { touched, outcome } = recordShippedUnitsInStock(ledger, operation, rules, note)
        for (const level of touched) facts.add(level)
        return outcome
      }
      case 'unship': {
        const levels = undoShippedUnits(ledger, operation, rules, note)
        for (const level of levels) facts.add(level)
        if (levels.length === 0) note('unship-nothing')
        return { kind: levels.length === 0 ? 'nothing' : 'done' }
      }
      default: {
        const { stale, touched } = applyCountOrAdjustment(ledger, operation, rules, note)
        for (const level of touched) facts.add(level)
        const short = [...new Set(touched.filter(isShortNow).map(level => level.itemId))]
        if (short.length > 0 && operation.kind === 'count') note('count-short')
        return { kind: 'counted', stale, short }
      }
    }
  }

  const outcomes = operations.map(settle)
  const written = ledger.written()
  const shortfalls = [...facts].filter(isShortNow).map(({ itemId, locationId }) => ({ itemId, locationId }))
  return {
    outcomes,
    ...written,
    statusChanges: findCrossings(stock, ledger, written.levels, note),
    shortfalls
  }
}

function findCrossings(
  stock: LockedStockState,
  ledger: WorkingStockLedger,
  changed: readonly StockLevel[],
  note: StockDecisionBranchListener
): StockStatusChange[] {
  const itemIds = new Set([...changed.map(level => level.itemId), ...stock.newItems])
  const crossings = [...itemIds].flatMap(itemId => {
    const item = stock.items.get(itemId)
    if (item === undefined) return []
    const before = stock.newItems.has(itemId) ? [] : (stock.levels.get(itemId) ?? [])
    return findStockStatusChanges(item, stock.kitsOf.get(itemId), { before, now: ledger.levelsOf(itemId) })
  })
  for (const { status, variantIds } of crossings)
    if (status !== 'untracked') for (const _ of variantIds) note(`crossed-${status}`)
  return crossings
}
