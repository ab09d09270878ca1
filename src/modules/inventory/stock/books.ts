import type { Level, Moved, Movement, Reservation, Stock, Written } from './state.ts'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }
export type OpenLevel = Mutable<Level>
export type Row = Mutable<Reservation> & { seconds: number | null; readonly isNew: boolean }
type Entry = Pick<Movement, 'kind' | 'onHandDelta' | 'reservedDelta' | 'operation' | 'owner'> &
  Partial<Pick<Movement, 'allowedAfter' | 'actor' | 'reason'>>

export const isOpen = (row: Reservation): boolean => row.state !== 'closed'
export const leftOf = (row: Pick<Reservation, 'quantity' | 'fulfilled'>): number =>
  row.quantity - row.fulfilled

const byPriority = (a: Level, b: Level): number =>
  a.priority - b.priority || (a.locationId < b.locationId ? -1 : Number(a.locationId > b.locationId))

export type Books = ReturnType<typeof openBooks>

/** A copy of the stock that operations write to, one after the other. Only what is asked for is copied. */
export function openBooks(stock: Stock) {
  const levels = new Map<string, OpenLevel[]>()
  const rows = new Map<string, Row[]>()
  const changedLevels = new Set<OpenLevel>()
  const changedRows = new Set<Row>()
  const movements: Movement[] = []

  /** Of an item that is locked, by priority. */
  function levelsOf(itemId: string): OpenLevel[] {
    let open = levels.get(itemId)
    if (open === undefined) {
      open = (stock.levels.get(itemId) ?? []).map(level => ({ ...level })).sort(byPriority)
      levels.set(itemId, open)
    }
    return open
  }

  function rowsOf(owner: string): Row[] {
    let open = rows.get(owner)
    if (open === undefined) {
      open = (stock.reservations.get(owner) ?? []).map(row => ({ ...row, seconds: null, isNew: false }))
      rows.set(owner, open)
    }
    return open
  }

  /** @throws Error for a level that nobody made: the batch would be written without it. */
  function levelAt(itemId: string, locationId: string): OpenLevel {
    const level = levelsOf(itemId).find(each => each.locationId === locationId)
    if (level === undefined) throw new Error(`The item ${itemId} has no level at ${locationId}`)
    return level
  }

  /** The owner's row at a level, to be written: the one there is, or a new one. */
  function rowAt(owner: string, { itemId, locationId }: Level): Row {
    const known = rowsOf(owner).find(row => row.itemId === itemId && row.locationId === locationId)
    if (known !== undefined) return known
    const place = { owner, itemId, locationId, quantity: 0, fulfilled: 0 }
    const row: Row = { ...place, state: 'held', isDue: false, isFree: true, seconds: null, isNew: true }
    rowsOf(owner).push(row)
    return row
  }

  function move(
    level: OpenLevel,
    { allowedAfter = null, actor = null, reason = null, ...entry }: Entry
  ): void {
    level.seq += 1
    level.onHand += entry.onHandDelta
    level.reserved += entry.reservedDelta
    changedLevels.add(level)
    const { itemId, locationId, seq, onHand: onHandAfter, reserved: reservedAfter } = level
    const after = { onHandAfter, reservedAfter, allowedAfter }
    movements.push({ itemId, locationId, seq, ...entry, ...after, actor, reason })
  }

  /** What was moved by a shipment, and back. */
  function movedBy(shipment: string): Moved[] {
    const now = movements.filter(({ operation }) => operation === shipment)
    return [...(stock.shipped.get(shipment) ?? []), ...now]
  }

  function written(): { levels: Level[]; inserted: Written[]; updated: Written[]; movements: Movement[] } {
    const inserted: Written[] = []
    const updated: Written[] = []
    for (const { isNew, isDue: _, isFree: __, ...row } of changedRows) (isNew ? inserted : updated).push(row)
    return { levels: [...changedLevels], inserted, updated, movements }
  }

  return {
    item: (itemId: string) => stock.items.get(itemId),
    /** Whether all levels of the item are at hand. */
    isLocked: (itemId: string) => stock.levels.has(itemId),
    home: stock.home,
    levelsOf,
    levelAt,
    rowsOf,
    rowAt,
    move,
    movedBy,
    /** What was changed without a movement. */
    noteLevel: (level: OpenLevel) => changedLevels.add(level),
    noteRow: (row: Row) => changedRows.add(row),
    written
  }
}
