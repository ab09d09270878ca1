import { ALLOCATION_RULES } from './allocation.ts'
import type { NoteBranch } from './branches.ts'
import { crossingsOf } from './crossings.ts'
import { drop, FACT_RULES, isShort, recordCount, recordReturn, release, ship, unship } from './facts.ts'
import { type OpenLevel, openLedger, type StockLedger } from './ledger.ts'
import { findMissingLocks } from './missing-locks.ts'
import { RESERVE_RULES, reserve } from './reserve.ts'
import type {
  Crossing,
  StockDecision,
  StockLevel,
  StockOperation,
  StockOutcome,
  StockState
} from './state.ts'
import { TAKE_RULES, take } from './take.ts'

/** The replaceable parts of a decision, so that a test can inject a fault in one. */
export const RULES = { ...ALLOCATION_RULES, ...FACT_RULES, ...RESERVE_RULES, ...TAKE_RULES }

/**
 * Decides what these operations change, one after the other. Pure: the given stock is not modified. `note`
 * is called with each case that occurs.
 */
export function decideOperation(
  stock: StockState,
  operations: readonly StockOperation[],
  note: NoteBranch = () => {},
  rules = RULES
): StockDecision {
  const ledger = openLedger(stock)
  /**
   * Levels changed by a count, an adjustment, a shipment or its undoing. These are never refused, so they
   * can leave a level short.
   */
  const facts = new Set<OpenLevel>()
  const isShortNow = (level: OpenLevel) =>
    isShort(ledger.item(level.itemId), ledger.levelsOf(level.itemId), level)

  function settle(operation: StockOperation): StockOutcome {
    const missing = findMissingLocks(ledger, operation)
    if (missing !== undefined) {
      note(missing.isRow ? 'later-row' : 'later-level')
      return { kind: 'later', itemIds: missing.itemIds }
    }
    switch (operation.kind) {
      case 'reserve':
        return reserve(ledger, operation, rules, note)
      case 'drop':
      case 'expire':
        return drop(ledger, operation, rules, note)
      case 'release':
        return release(ledger, operation, rules, note)
      case 'take':
        return take(ledger, operation, rules, note)
      case 'return':
        return recordReturn(ledger, operation, note)
      case 'ship':
        for (const level of ship(ledger, operation, rules, note)) facts.add(level)
        return { kind: 'done' }
      case 'unship': {
        const levels = unship(ledger, operation, rules, note)
        for (const level of levels) facts.add(level)
        if (levels.length === 0) note('unship-nothing')
        return { kind: levels.length === 0 ? 'nothing' : 'done' }
      }
      default: {
        const { stale, touched } = recordCount(ledger, operation, rules, note)
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
  return { outcomes, ...written, crossings: findCrossings(stock, ledger, written.levels, note), shortfalls }
}

function findCrossings(
  stock: StockState,
  ledger: StockLedger,
  changed: readonly StockLevel[],
  note: NoteBranch
): Crossing[] {
  const itemIds = new Set([...changed.map(level => level.itemId), ...stock.newItems])
  const crossings = [...itemIds].flatMap(itemId => {
    const item = stock.items.get(itemId)
    if (item === undefined) return []
    const before = stock.newItems.has(itemId) ? [] : (stock.levels.get(itemId) ?? [])
    return crossingsOf(item, stock.kitsOf.get(itemId), { before, now: ledger.levelsOf(itemId) })
  })
  for (const { status, variantIds } of crossings)
    if (status !== 'untracked') for (const _ of variantIds) note(`crossed-${status}`)
  return crossings
}
