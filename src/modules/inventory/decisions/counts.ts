import type { StockDecisionBranchListener } from './branches.ts'
import type { MutableStockLevel, WorkingStockLedger } from './ledger.ts'
import type { StockReleaseAndShipmentRules } from './order-changes.ts'
import type { StockAdjustOperation, StockCountOperation } from './state.ts'

/** Returns whether the level can be counted: no level is created for an untracked item. */
const isCounted = (ledger: WorkingStockLedger, itemId: string, locationId: string): boolean => {
  const item = ledger.item(itemId)
  if (item === undefined || item.tracked) return item !== undefined
  return ledger.levelsOf(itemId).some(level => level.locationId === locationId)
}

/** Applies a count or an adjustment. */
export function applyCountOrAdjustment(
  ledger: WorkingStockLedger,
  operation: StockCountOperation | StockAdjustOperation,
  rules: StockReleaseAndShipmentRules,
  note: StockDecisionBranchListener
) {
  const { id, kind, actor, reason } = operation
  const stale = new Set<string>()
  const touched: MutableStockLevel[] = []
  const change = (level: MutableStockLevel, onHandDelta: number, isSafetyChanged = false) => {
    touched.push(level)
    if (kind === 'count') note(onHandDelta === 0 ? 'count-same' : 'count')
    else note(level.onHand + onHandDelta < 0 ? 'adjust-negative' : 'adjust')
    if (onHandDelta === 0 && !isSafetyChanged) return
    ledger.move(level, { kind, onHandDelta, reservedDelta: 0, operation: id, owner: null, actor, reason })
  }
  for (const line of operation.lines) {
    if (!isCounted(ledger, line.itemId, line.locationId)) continue
    const level = ledger.levelAt(line.itemId, line.locationId)
    if ('delta' in line) change(level, line.delta)
    else if (rules.isStale(level, line)) {
      note('count-stale')
      stale.add(line.itemId)
    } else {
      const isSafetyChanged = setSafetyAndVersion(ledger, level, line)
      change(level, (line.onHand ?? level.onHand) - level.onHand, isSafetyChanged)
    }
  }
  return { stale: [...stale], touched }
}

/**
 * Sets the safety stock and source version of a level. Returns whether the safety stock changed. If so, the caller must record a
 * movement, even of 0 units, because copies of the level compare its `seq`.
 */
function setSafetyAndVersion(
  ledger: WorkingStockLedger,
  level: MutableStockLevel,
  line: StockCountOperation['lines'][number]
): boolean {
  const { safety, sourceVersion } = {
    safety: line.safety ?? level.safety,
    sourceVersion: line.sourceVersion ?? level.sourceVersion
  }
  const isSafetyChanged = safety !== level.safety
  if (!isSafetyChanged && sourceVersion === level.sourceVersion) return false
  level.safety = safety
  level.sourceVersion = sourceVersion
  ledger.noteLevel(level)
  return isSafetyChanged
}
