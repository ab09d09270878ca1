import type {
  LockedStockState,
  ShipmentStockMovement,
  StockLevel,
  StockMovement,
  StockReservation,
  StockReservationValues
} from './state.ts'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }
export type MutableStockLevel = Mutable<StockLevel>
export type MutableReservation = Mutable<StockReservation> & {
  seconds: number | null
  readonly isNew: boolean
}
type MovementInput = Pick<StockMovement, 'kind' | 'onHandDelta' | 'reservedDelta' | 'operation' | 'owner'> &
  Partial<Pick<StockMovement, 'allowedAfter' | 'actor' | 'reason'>>

export const isReservationOpen = (row: StockReservation): boolean => row.state !== 'closed'
export const unshippedReservedUnits = (row: Pick<StockReservation, 'quantity' | 'fulfilled'>): number =>
  row.quantity - row.fulfilled

const byPriority = (a: StockLevel, b: StockLevel): number =>
  a.priority - b.priority || (a.locationId < b.locationId ? -1 : Number(a.locationId > b.locationId))

export type WorkingStockLedger = ReturnType<typeof createWorkingStockLedger>

/**
 * A working copy of the locked stock, which operations change one after another. It copies only the levels
 * and reservations that are read.
 */
export function createWorkingStockLedger(stock: LockedStockState) {
  const levels = new Map<string, MutableStockLevel[]>()
  const rows = new Map<string, MutableReservation[]>()
  const changedLevels = new Set<MutableStockLevel>()
  const changedRows = new Set<MutableReservation>()
  const movements: StockMovement[] = []

  /** Returns the levels of a locked item, by priority. */
  function levelsOf(itemId: string): MutableStockLevel[] {
    let open = levels.get(itemId)
    if (open === undefined) {
      open = (stock.levels.get(itemId) ?? []).map(level => ({ ...level })).sort(byPriority)
      levels.set(itemId, open)
    }
    return open
  }

  function rowsOf(owner: string): MutableReservation[] {
    let open = rows.get(owner)
    if (open === undefined) {
      open = (stock.reservations.get(owner) ?? []).map(row => ({ ...row, seconds: null, isNew: false }))
      rows.set(owner, open)
    }
    return open
  }

  /** @throws Error when the level was not created before the batch, because it would not be written. */
  function levelAt(itemId: string, locationId: string): MutableStockLevel {
    const level = levelsOf(itemId).find(each => each.locationId === locationId)
    if (level === undefined) throw new Error(`The item ${itemId} has no level at ${locationId}`)
    return level
  }

  /** Returns the owner's reservation at a level; creates it when there is none. */
  function rowAt(owner: string, { itemId, locationId }: StockLevel): MutableReservation {
    const known = rowsOf(owner).find(row => row.itemId === itemId && row.locationId === locationId)
    if (known !== undefined) return known
    const place = { owner, itemId, locationId, quantity: 0, fulfilled: 0 }
    const row: MutableReservation = {
      ...place,
      state: 'held',
      isExpired: false,
      isUnlocked: true,
      seconds: null,
      isNew: true
    }
    rowsOf(owner).push(row)
    return row
  }

  function move(
    level: MutableStockLevel,
    { allowedAfter = null, actor = null, reason = null, ...entry }: MovementInput
  ): void {
    level.seq += 1
    level.onHand += entry.onHandDelta
    level.reserved += entry.reservedDelta
    changedLevels.add(level)
    const { itemId, locationId, seq, onHand: onHandAfter, reserved: reservedAfter } = level
    const after = { onHandAfter, reservedAfter, allowedAfter }
    movements.push({ itemId, locationId, seq, ...entry, ...after, actor, reason })
  }

  /** Returns the movements of a shipment and of its undoing. */
  function movedBy(shipment: string): ShipmentStockMovement[] {
    const now = movements.filter(({ operation }) => operation === shipment)
    return [...(stock.shipped.get(shipment) ?? []), ...now]
  }

  function written(): {
    levels: StockLevel[]
    inserted: StockReservationValues[]
    updated: StockReservationValues[]
    movements: StockMovement[]
  } {
    const inserted: StockReservationValues[] = []
    const updated: StockReservationValues[] = []
    for (const { isNew, isExpired: _, isUnlocked: __, ...row } of changedRows)
      (isNew ? inserted : updated).push(row)
    return { levels: [...changedLevels], inserted, updated, movements }
  }

  return {
    item: (itemId: string) => stock.items.get(itemId),
    /** Returns whether the levels of the item are locked. */
    isLocked: (itemId: string) => stock.levels.has(itemId),
    home: stock.home,
    levelsOf,
    levelAt,
    rowsOf,
    rowAt,
    move,
    movedBy,
    /** Marks a level that changed without a movement. */
    noteLevel: (level: MutableStockLevel) => changedLevels.add(level),
    noteRow: (row: MutableReservation) => changedRows.add(row),
    written
  }
}
