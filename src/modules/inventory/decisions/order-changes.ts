import { sumBy } from '../../../kernel/sum-by.ts'
import { sumQuantitiesByItem } from './allocation.ts'
import type { StockDecisionBranchListener } from './branches.ts'
import {
  isReservationOpen,
  type MutableReservation,
  type MutableStockLevel,
  unshippedReservedUnits,
  type WorkingStockLedger
} from './ledger.ts'
import type {
  InventoryItemQuantity,
  InventoryItemStockPolicy,
  OrderStockOperation,
  ReleaseHeldStockOperation,
  ReserveStockOperation,
  ShipmentStockMovement,
  StockCountOperation,
  StockLevel,
  StockOperationOutcome,
  TakeContestedStockOperation,
  UndoShipmentStockOperation
} from './state.ts'

export type StockReleaseAndShipmentRules = typeof STOCK_RELEASE_AND_SHIPMENT_RULES
export const STOCK_RELEASE_AND_SHIPMENT_RULES = {
  /** The reservations that a release or a shipment applies to. */
  openRows: (rows: readonly MutableReservation[]): readonly MutableReservation[] =>
    rows.filter(isReservationOpen),
  isToClose: (kind: ReleaseHeldStockOperation['kind'], row: MutableReservation): boolean =>
    row.state === 'held' && (kind === 'drop' || row.isExpired),
  isUndone: (moved: readonly ShipmentStockMovement[]): boolean => moved.some(({ kind }) => kind === 'unship'),
  /**
   * Units of a closed reservation that stayed reserved until the end: the shipped ones. Released units
   * stay released.
   */
  reservedAtClose: (row: MutableReservation): number => row.fulfilled,
  isStale: (level: StockLevel, { sourceVersion }: StockCountOperation['lines'][number]): boolean =>
    sourceVersion !== null && level.sourceVersion !== null && sourceVersion <= level.sourceVersion
}

const missingAt = (level: StockLevel): number => Math.max(0, level.reserved - Math.max(0, level.onHand))
/** Returns whether more units are reserved than on hand, beyond the backorder limit. */
export function isStockLevelShort(
  item: InventoryItemStockPolicy | undefined,
  levels: readonly StockLevel[],
  level: StockLevel
): boolean {
  if (!item?.tracked || item.backorder === 'any' || missingAt(level) === 0) return false
  return item.backorder === 'none' || sumBy(levels, missingAt) > (item.backorderLimit ?? 0)
}

function close(row: MutableReservation): void {
  row.state = 'closed'
  row.seconds = null
}

/** Releases units of a reservation; closes it when none are left. */
export function releaseReservedUnits(
  ledger: WorkingStockLedger,
  operation:
    | ReleaseHeldStockOperation
    | OrderStockOperation
    | ReserveStockOperation
    | TakeContestedStockOperation,
  row: MutableReservation,
  quantity: number
): void {
  if (quantity === unshippedReservedUnits(row)) close(row)
  else row.quantity -= quantity
  ledger.noteRow(row)
  ledger.move(ledger.levelAt(row.itemId, row.locationId), {
    kind: 'release',
    onHandDelta: 0,
    reservedDelta: -quantity,
    operation: operation.id,
    owner: row.owner
  })
}

/**
 * Releases held reservations. `expire` skips an owner whose reservation is being claimed; the next run
 * handles it.
 */
export function releaseHeldReservations(
  ledger: WorkingStockLedger,
  operation: ReleaseHeldStockOperation,
  rules: StockReleaseAndShipmentRules,
  note: StockDecisionBranchListener
): StockOperationOutcome {
  const rows = ledger.rowsOf(operation.owner)
  if (operation.kind === 'expire' && !rows.every(row => row.isUnlocked)) {
    note('expire-claimed')
    return { kind: 'done' }
  }
  const closed = rows.filter(row => rules.isToClose(operation.kind, row))
  if (operation.kind === 'drop') note(closed.length > 0 ? 'drop-held' : 'drop-nothing')
  else if (closed.length > 0) note('expire-due')
  else if (rows.some(isReservationOpen))
    note(rows.some(row => row.state === 'held') ? 'expire-not-due' : 'expire-claimed')
  for (const row of closed) releaseReservedUnits(ledger, operation, row, unshippedReservedUnits(row))
  return { kind: 'done' }
}

/**
 * Distributes the requested units over the owner's reservations. `rest`: units that no reservation covers.
 */
function findShares(
  ledger: WorkingStockLedger,
  { owner, parts, locationId }: OrderStockOperation,
  rules: StockReleaseAndShipmentRules
) {
  const rows = rules
    .openRows(ledger.rowsOf(owner))
    .filter(row => locationId === null || row.locationId === locationId)
  if (parts === null)
    return { shares: rows.map(row => ({ row, quantity: unshippedReservedUnits(row) })), rest: [] }
  const shares: { row: MutableReservation; quantity: number }[] = []
  const rest: { itemId: string; quantity: number }[] = []
  for (const [itemId, wanted] of sumQuantitiesByItem(parts)) {
    let quantity = wanted
    for (const level of rows.some(row => row.itemId === itemId) ? ledger.levelsOf(itemId) : []) {
      const row = rows.find(each => each.itemId === itemId && each.locationId === level.locationId)
      const share = row === undefined ? 0 : Math.min(quantity, unshippedReservedUnits(row))
      if (row !== undefined && share > 0) shares.push({ row, quantity: share })
      quantity -= share
    }
    if (quantity > 0) rest.push({ itemId, quantity })
  }
  return { shares, rest }
}

export function releaseOrderUnits(
  ledger: WorkingStockLedger,
  operation: OrderStockOperation,
  rules: StockReleaseAndShipmentRules,
  note: StockDecisionBranchListener
): StockOperationOutcome {
  const { shares, rest } = findShares(ledger, operation, rules)
  if (operation.parts === null) note('release-all')
  else if (rest.length > 0) note('release-surplus')
  else note('release-part')
  for (const { row, quantity } of shares) releaseReservedUnits(ledger, operation, row, quantity)
  return { kind: 'done', ...surplusOf(ledger, rest) }
}

function surplusOf(
  ledger: WorkingStockLedger,
  rest: readonly InventoryItemQuantity[]
): { surplus?: readonly InventoryItemQuantity[] } {
  const surplus = rest.filter(({ itemId }) => ledger.item(itemId)?.tracked)
  return surplus.length > 0 ? { surplus } : {}
}

/** Returns the level of an operation that names no location. */
function defaultLevel(
  ledger: WorkingStockLedger,
  itemId: string,
  locationId: string | null
): MutableStockLevel {
  const levels = ledger.levelsOf(itemId)
  if (locationId !== null || levels.length === 0) return ledger.levelAt(itemId, locationId ?? ledger.home)
  const home = levels.find(level => level.locationId === ledger.home)
  return home ?? levels.find(level => level.active) ?? (levels[0] as MutableStockLevel)
}

/** Records a shipment, also of units that were not reserved. */
export function recordShippedUnitsInStock(
  ledger: WorkingStockLedger,
  operation: OrderStockOperation,
  rules: StockReleaseAndShipmentRules,
  note: StockDecisionBranchListener
): { touched: readonly MutableStockLevel[]; outcome: StockOperationOutcome } {
  const { id, owner, locationId } = operation
  const { shares, rest } = findShares(ledger, operation, rules)
  const touched: MutableStockLevel[] = []
  const leave = (level: MutableStockLevel, quantity: number, reserved: number) => {
    ledger.move(level, {
      kind: 'ship',
      onHandDelta: -quantity,
      reservedDelta: -reserved,
      operation: id,
      owner
    })
    touched.push(level)
  }
  for (const { row, quantity } of shares) {
    row.fulfilled += quantity
    if (unshippedReservedUnits(row) === 0) close(row)
    note(isReservationOpen(row) ? 'ship' : 'ship-closes')
    ledger.noteRow(row)
    leave(ledger.levelAt(row.itemId, row.locationId), quantity, quantity)
  }
  for (const { itemId, quantity } of rest) {
    if (!ledger.item(itemId)?.tracked) continue
    note('ship-surplus')
    leave(defaultLevel(ledger, itemId, locationId), quantity, 0)
  }
  return { touched, outcome: { kind: 'done', ...surplusOf(ledger, rest) } }
}

/** Returns the movements of the owner's shipment; none when it was undone. */
export function findShipmentStockMovements(
  ledger: WorkingStockLedger,
  { shipment, owner }: UndoShipmentStockOperation,
  rules: StockReleaseAndShipmentRules
): readonly ShipmentStockMovement[] {
  const moved = ledger.movedBy(shipment).filter(each => each.owner === owner)
  return rules.isUndone(moved) ? [] : moved
}

/** Reserves shipped units again, even when their reservation was closed or deleted. */
function reserveAgain(
  ledger: WorkingStockLedger,
  row: MutableReservation,
  quantity: number,
  rules: StockReleaseAndShipmentRules
): void {
  if (row.quantity === 0 || !isReservationOpen(row)) {
    row.quantity = rules.reservedAtClose(row)
    row.state = 'confirmed'
  }
  const undone = Math.min(quantity, row.fulfilled)
  row.fulfilled -= undone
  row.quantity += quantity - undone
  ledger.noteRow(row)
}

/** Undoes a shipment: its units return to their levels and are reserved as before. */
export function undoShippedUnits(
  ledger: WorkingStockLedger,
  operation: UndoShipmentStockOperation,
  rules: StockReleaseAndShipmentRules,
  note: StockDecisionBranchListener
): readonly MutableStockLevel[] {
  const { owner, shipment } = operation
  return findShipmentStockMovements(ledger, operation, rules).map(
    ({ itemId, locationId, onHandDelta, reservedDelta }) => {
      const level = ledger.levelAt(itemId, locationId)
      if (reservedDelta === 0) note('unship-surplus')
      else {
        const row = ledger.rowAt(owner, level)
        note(row.quantity === 0 ? 'unship-forgotten' : isReservationOpen(row) ? 'unship' : 'unship-opens')
        reserveAgain(ledger, row, -reservedDelta, rules)
      }
      // `0 - x` instead of `-x`, because a unary minus turns 0 into -0.
      const back = { onHandDelta: 0 - onHandDelta, reservedDelta: 0 - reservedDelta }
      ledger.move(level, { kind: 'unship', ...back, operation: shipment, owner })
      return level
    }
  )
}

export function recordReturnedUnitsInStock(
  ledger: WorkingStockLedger,
  { id, owner, parts, locationId }: OrderStockOperation,
  note: StockDecisionBranchListener
): StockOperationOutcome {
  for (const [itemId, quantity] of sumQuantitiesByItem(parts ?? [])) {
    if (!ledger.item(itemId)?.tracked) continue
    note('return')
    const level = defaultLevel(ledger, itemId, locationId)
    ledger.move(level, { kind: 'return', onHandDelta: quantity, reservedDelta: 0, operation: id, owner })
  }
  return { kind: 'done' }
}
