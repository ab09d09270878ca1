import { type AllocationRules, allocate, findShort, quantitiesByItem, requestedByItem } from './allocation.ts'
import { freeAt } from './availability.ts'
import { type NoteBranch, noteNeeds, noteShort } from './branches.ts'
import { releaseUnits } from './facts.ts'
import { isOpen, type OpenLevel, openQuantity, type ReservationRow, type StockLedger } from './ledger.ts'
import type { ReserveOperation, StockItem, StockLevel, StockOutcome, StockPart } from './state.ts'

type Rules = AllocationRules & typeof RESERVE_RULES
export const RESERVE_RULES = {
  /** The owner's open reservations. */
  currentRows: (rows: readonly ReservationRow[]): readonly ReservationRow[] => rows.filter(isOpen),
  /** Returns whether the rows reserve the requested quantity of each item, at any locations. */
  isSame(rows: readonly ReservationRow[], wanted: ReadonlyMap<string, number>): boolean {
    const sums = quantitiesByItem(rows)
    return sums.size === wanted.size && [...sums].every(([itemId, sum]) => wanted.get(itemId) === sum)
  },
  /** The reservations that new lines of the same owner replace. */
  replacedRows: (rows: readonly ReservationRow[]): readonly ReservationRow[] => rows,
  /** Maximum units of an item that may be contested. */
  contestableUnits: ({ contest }: ReserveOperation, itemId: string): number => contest?.get(itemId) ?? 0
}

/**
 * Reserves all lines or none. A refused request changes nothing; an earlier reservation of the owner
 * stays.
 */
export function reserve(
  ledger: StockLedger,
  operation: ReserveOperation,
  rules: Rules,
  note: NoteBranch
): StockOutcome {
  const { owner, needs, seconds } = operation
  const rows = rules.currentRows(ledger.rowsOf(owner))
  const isCounted = (itemId: string) => ledger.item(itemId)?.tracked === true
  const wanted = requestedByItem(needs, rules)
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
  noteNeeds(needs, ledger, note)
  const short = findShort(needs, { item: ledger.item, levelsOf }, rules)
  const availableOf = (itemId: string) => rules.availableOf(ledger.item(itemId), levelsOf(itemId))
  const contested = short.length > 0 ? contestedOf(wanted, availableOf) : []
  const mayContest = contested.every(part => part.quantity <= rules.contestableUnits(operation, part.itemId))
  if (short.length > 0 && !mayContest) {
    if (operation.contest !== undefined) note('contest-refused')
    noteShort(needs, short, ledger, note)
    if (rows.length > 0) note('replace-refused')
    return { kind: 'short', lines: short }
  }
  note(
    rows.length > 0 ? 'replaced' : ledger.rowsOf(owner).length > 0 ? 'reserved-after-close' : 'reserved-fresh'
  )
  for (const row of replaced) releaseUnits(ledger, operation, row, openQuantity(row))
  if (contested.length > 0) note('contested')
  for (const { itemId, quantity } of contested) wanted.set(itemId, (wanted.get(itemId) ?? 0) - quantity)
  for (const [itemId, quantity] of wanted) {
    const item = ledger.item(itemId)
    if (!item?.tracked || quantity === 0) continue
    for (const row of addUnits(ledger, operation, { item, quantity }, rules, note))
      holdRow(ledger, row, seconds)
  }
  return { kind: 'reserved', contested }
}

/** Returns the requested units that cannot be reserved now. */
const contestedOf = (
  wanted: ReadonlyMap<string, number>,
  availableOf: (itemId: string) => number
): StockPart[] =>
  [...wanted].flatMap(([itemId, quantity]) => {
    const rest = quantity - Math.max(0, availableOf(itemId))
    return rest > 0 ? [{ itemId, quantity: rest }] : []
  })

function holdRow(ledger: StockLedger, row: ReservationRow, seconds: number): void {
  row.state = 'held'
  row.isExpired = false
  row.seconds = seconds
  ledger.noteRow(row)
}

/** Returns the levels as if these reservations were released. */
function withoutRows(levels: readonly OpenLevel[], rows: readonly ReservationRow[]): readonly StockLevel[] {
  if (rows.length === 0) return levels
  return levels.map(level => {
    const row = rows.find(each => each.itemId === level.itemId && each.locationId === level.locationId)
    return row === undefined ? level : { ...level, reserved: level.reserved - openQuantity(row) }
  })
}

/** Adds available units to the owner's reservations and returns the changed rows. */
export function addUnits(
  ledger: StockLedger,
  { id, owner }: Pick<ReserveOperation, 'id' | 'owner'>,
  { item, quantity }: { readonly item: StockItem; readonly quantity: number },
  rules: AllocationRules,
  note: NoteBranch
): ReservationRow[] {
  const levels = ledger.levelsOf(item.id)
  const places = allocate(levels, quantity, rules)
  note(places.length > 1 ? 'split' : 'one-location')
  if (places.some(each => each.quantity > freeAt(each.level)))
    note(item.backorder === 'any' ? 'any' : 'backorder')
  return places.map(({ level, quantity: reservedDelta }) => {
    const allowedAfter = rules.allowedAt(item, levels, level)
    ledger.move(level, { kind: 'reserve', onHandDelta: 0, reservedDelta, allowedAfter, operation: id, owner })
    const row = ledger.rowAt(owner, level)
    if (!isOpen(row)) row.quantity = row.fulfilled = 0
    row.quantity += reservedDelta
    return row
  })
}
