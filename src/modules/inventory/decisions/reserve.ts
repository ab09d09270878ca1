import {
  allocateToStockLevels,
  findLinesShortOfStock,
  type StockAllocationRules,
  sumQuantitiesByItem,
  sumRequestedUnitsByItem
} from './allocation.ts'
import { unreservedUnitsAtLevel } from './availability.ts'
import {
  reportReservationDecisionBranches,
  reportShortageDecisionBranches,
  type StockDecisionBranchListener
} from './branches.ts'
import {
  isReservationOpen,
  type MutableReservation,
  type MutableStockLevel,
  unshippedReservedUnits,
  type WorkingStockLedger
} from './ledger.ts'
import { releaseReservedUnits } from './order-changes.ts'
import type {
  InventoryItemQuantity,
  InventoryItemStockPolicy,
  ReserveStockOperation,
  StockLevel,
  StockOperationOutcome
} from './state.ts'

type Rules = StockAllocationRules & typeof STOCK_RESERVE_OPERATION_RULES
export const STOCK_RESERVE_OPERATION_RULES = {
  /** The owner's open reservations. */
  currentRows: (rows: readonly MutableReservation[]): readonly MutableReservation[] =>
    rows.filter(isReservationOpen),
  /** Returns whether the rows reserve the requested quantity of each item, at any locations. */
  isSame(rows: readonly MutableReservation[], wanted: ReadonlyMap<string, number>): boolean {
    const sums = sumQuantitiesByItem(rows)
    return sums.size === wanted.size && [...sums].every(([itemId, sum]) => wanted.get(itemId) === sum)
  },
  /** Returns the open reservations of the owner, which the new lines replace. */
  replacedRows: (rows: readonly MutableReservation[]): readonly MutableReservation[] => rows,
  /** Maximum units of an item that may be contested. */
  contestableUnits: ({ contest }: ReserveStockOperation, itemId: string): number => contest?.get(itemId) ?? 0
}

/**
 * Reserves all lines or none. A refused request changes nothing; an earlier reservation of the owner
 * stays.
 */
export function reserveAllOrNothing(
  ledger: WorkingStockLedger,
  operation: ReserveStockOperation,
  rules: Rules,
  note: StockDecisionBranchListener
): StockOperationOutcome {
  const { owner, needs, seconds } = operation
  const rows = rules.currentRows(ledger.rowsOf(owner))
  const isCounted = (itemId: string) => ledger.item(itemId)?.tracked === true
  const wanted = sumRequestedUnitsByItem(needs, rules)
  for (const itemId of wanted.keys())
    if (!isCounted(itemId) && !rows.some(row => row.itemId === itemId)) wanted.delete(itemId)

  const isHeld = rows.every(row => row.state === 'held')
  if (rows.length > 0 && rules.isSame(rows, wanted)) {
    note(isHeld ? 'reserved-again-held' : 'reserved-again-claimed')
    if (isHeld) for (const row of rows) holdRow(ledger, row, seconds)
    return { kind: 'reserved', contested: [] }
  }
  if (!isHeld) {
    note('taken')
    return { kind: 'taken' }
  }

  const replaced = rules.replacedRows(rows)
  const levelsOf = (itemId: string) => withoutRows(ledger.levelsOf(itemId), replaced)
  reportReservationDecisionBranches(needs, ledger, note)
  const short = findLinesShortOfStock(needs, { item: ledger.item, levelsOf }, rules)
  const availableOf = (itemId: string) => rules.availableOf(ledger.item(itemId), levelsOf(itemId))
  const contested = short.length > 0 ? contestedOf(wanted, availableOf) : []
  const mayContest = contested.every(part => part.quantity <= rules.contestableUnits(operation, part.itemId))
  if (short.length > 0 && !mayContest) {
    if (operation.contest !== undefined) note('contest-refused')
    reportShortageDecisionBranches(needs, short, ledger, note)
    if (rows.length > 0) note('replace-refused')
    return { kind: 'short', lines: short }
  }
  note(
    rows.length > 0 ? 'replaced' : ledger.rowsOf(owner).length > 0 ? 'reserved-after-close' : 'reserved-fresh'
  )
  for (const row of replaced) releaseReservedUnits(ledger, operation, row, unshippedReservedUnits(row))
  if (contested.length > 0) note('contested')
  for (const { itemId, quantity } of contested) wanted.set(itemId, (wanted.get(itemId) ?? 0) - quantity)
  for (const [itemId, quantity] of wanted) {
    const item = ledger.item(itemId)
    if (!item?.tracked || quantity === 0) continue
    for (const row of reserveAvailableUnits(ledger, operation, { item, quantity }, rules, note))
      holdRow(ledger, row, seconds)
  }
  return { kind: 'reserved', contested }
}

/** Returns the requested units that cannot be reserved now. */
const contestedOf = (
  wanted: ReadonlyMap<string, number>,
  availableOf: (itemId: string) => number
): InventoryItemQuantity[] =>
  [...wanted].flatMap(([itemId, quantity]) => {
    const rest = quantity - Math.max(0, availableOf(itemId))
    return rest > 0 ? [{ itemId, quantity: rest }] : []
  })

function holdRow(ledger: WorkingStockLedger, row: MutableReservation, seconds: number): void {
  row.state = 'held'
  row.isExpired = false
  row.seconds = seconds
  ledger.noteRow(row)
}

/** Returns the levels as if these reservations were released. */
function withoutRows(
  levels: readonly MutableStockLevel[],
  rows: readonly MutableReservation[]
): readonly StockLevel[] {
  if (rows.length === 0) return levels
  return levels.map(level => {
    const row = rows.find(each => each.itemId === level.itemId && each.locationId === level.locationId)
    return row === undefined ? level : { ...level, reserved: level.reserved - unshippedReservedUnits(row) }
  })
}

/** Adds available units to the owner's reservations and returns the changed rows. */
export function reserveAvailableUnits(
  ledger: WorkingStockLedger,
  { id, owner }: Pick<ReserveStockOperation, 'id' | 'owner'>,
  { item, quantity }: { readonly item: InventoryItemStockPolicy; readonly quantity: number },
  rules: StockAllocationRules,
  note: StockDecisionBranchListener
): MutableReservation[] {
  const levels = ledger.levelsOf(item.id)
  const places = allocateToStockLevels(levels, quantity, rules)
  note(places.length > 1 ? 'split' : 'one-location')
  if (places.some(each => each.quantity > unreservedUnitsAtLevel(each.level)))
    note(item.backorder === 'any' ? 'any' : 'backorder')
  return places.map(({ level, quantity: reservedDelta }) => {
    const allowedAfter = rules.allowedAt(item, levels, level)
    ledger.move(level, { kind: 'reserve', onHandDelta: 0, reservedDelta, allowedAfter, operation: id, owner })
    const row = ledger.rowAt(owner, level)
    if (!isReservationOpen(row)) row.quantity = row.fulfilled = 0
    row.quantity += reservedDelta
    return row
  })
}
