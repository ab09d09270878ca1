import { sumOf } from './availability.ts'
import { type Books, isOpen, leftOf, type OpenLevel, type Row } from './books.ts'
import type { Note } from './branches.ts'
import { sumsOf } from './place.ts'
import type {
  Adjust,
  Count,
  Drop,
  Item,
  Level,
  Moved,
  Outcome,
  Request,
  Reserve,
  Take,
  Unship
} from './state.ts'

export type FactRules = typeof FACT_RULES
export const FACT_RULES = {
  /** What of an owner's rows a release or a shipment is about. */
  standing: (rows: readonly Row[]): readonly Row[] => rows.filter(isOpen),
  isToClose: (kind: Drop['kind'], row: Row): boolean =>
    row.state === 'held' && (kind === 'drop' || row.isDue),
  isUndone: (moved: readonly Moved[]): boolean => moved.some(({ kind }) => kind === 'unship'),
  /** How many of a row that was closed were promised in the end: what was given back of it stays so. */
  promised: (row: Row): number => row.fulfilled,
  isStale: (level: Level, { sourceVersion }: Count['lines'][number]): boolean =>
    sourceVersion !== null && level.sourceVersion !== null && sourceVersion <= level.sourceVersion
}

const missingAt = (level: Level): number => Math.max(0, level.reserved - Math.max(0, level.onHand))
/** More is promised at the level than is there, and nobody said that they would wait for it. */
export function isShort(item: Item | undefined, levels: readonly Level[], level: Level): boolean {
  if (!item?.tracked || item.backorder === 'any' || missingAt(level) === 0) return false
  return item.backorder === 'none' || sumOf(levels, missingAt) > (item.backorderLimit ?? 0)
}

function close(row: Row): void {
  row.state = 'closed'
  row.seconds = null
}

/** Gives back what is left of a row, or a part of it. */
export function giveBack(
  books: Books,
  operation: Drop | Request | Reserve | Take,
  row: Row,
  quantity: number
): void {
  if (quantity === leftOf(row)) close(row)
  else row.quantity -= quantity
  books.noteRow(row)
  books.move(books.levelAt(row.itemId, row.locationId), {
    kind: 'release',
    onHandDelta: 0,
    reservedDelta: -quantity,
    operation: operation.id,
    owner: row.owner
  })
}

/** What is being claimed at this moment does not expire: the sweep comes again. */
export function drop(books: Books, operation: Drop, rules: FactRules, note: Note): Outcome {
  const rows = books.rowsOf(operation.owner)
  if (operation.kind === 'expire' && !rows.every(row => row.isFree)) {
    note('expire-claimed')
    return { kind: 'done' }
  }
  const closed = rows.filter(row => rules.isToClose(operation.kind, row))
  if (operation.kind === 'drop') note(closed.length > 0 ? 'drop-held' : 'drop-nothing')
  else if (closed.length > 0) note('expire-due')
  else if (rows.some(isOpen))
    note(rows.some(row => row.state === 'held') ? 'expire-not-due' : 'expire-claimed')
  for (const row of closed) giveBack(books, operation, row, leftOf(row))
  return { kind: 'done' }
}

/** The rows that a request is about, item by item, each with how much of it; and what no row covers. */
function shareOut(books: Books, { owner, parts, locationId }: Request, rules: FactRules) {
  const rows = rules
    .standing(books.rowsOf(owner))
    .filter(row => locationId === null || row.locationId === locationId)
  if (parts === null) return { shares: rows.map(row => ({ row, quantity: leftOf(row) })), rest: [] }
  const shares: { row: Row; quantity: number }[] = []
  const rest: { itemId: string; quantity: number }[] = []
  for (const [itemId, wanted] of sumsOf(parts)) {
    let quantity = wanted
    for (const level of rows.some(row => row.itemId === itemId) ? books.levelsOf(itemId) : []) {
      const row = rows.find(each => each.itemId === itemId && each.locationId === level.locationId)
      const share = row === undefined ? 0 : Math.min(quantity, leftOf(row))
      if (row !== undefined && share > 0) shares.push({ row, quantity: share })
      quantity -= share
    }
    if (quantity > 0) rest.push({ itemId, quantity })
  }
  return { shares, rest }
}

export function release(books: Books, operation: Request, rules: FactRules, note: Note): Outcome {
  const { shares, rest } = shareOut(books, operation, rules)
  if (operation.parts === null) note('release-all')
  else if (rest.length > 0) note('release-surplus')
  else note('release-part')
  for (const { row, quantity } of shares) giveBack(books, operation, row, quantity)
  return { kind: 'done' }
}

/** The level that a fact without a location is written to. */
function factLevel(books: Books, itemId: string, locationId: string | null): OpenLevel {
  const levels = books.levelsOf(itemId)
  if (locationId !== null || levels.length === 0) return books.levelAt(itemId, locationId ?? books.home)
  const home = levels.find(level => level.locationId === books.home)
  return home ?? levels.find(level => level.active) ?? (levels[0] as OpenLevel)
}

/** What has left has left: also what nobody had reserved. */
export function ship(books: Books, operation: Request, rules: FactRules, note: Note): OpenLevel[] {
  const { id, owner, locationId } = operation
  const { shares, rest } = shareOut(books, operation, rules)
  const touched: OpenLevel[] = []
  const leave = (level: OpenLevel, quantity: number, reserved: number) => {
    books.move(level, {
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
    if (leftOf(row) === 0) close(row)
    note(isOpen(row) ? 'ship' : 'ship-closes')
    books.noteRow(row)
    leave(books.levelAt(row.itemId, row.locationId), quantity, quantity)
  }
  for (const { itemId, quantity } of rest) {
    if (!books.item(itemId)?.tracked) continue
    note('ship-surplus')
    leave(factLevel(books, itemId, locationId), quantity, 0)
  }
  return touched
}

/** What a shipment of the owner has moved; nothing when it was undone. */
export function shippedBy(books: Books, { shipment, owner }: Unship, rules: FactRules): readonly Moved[] {
  const moved = books.movedBy(shipment).filter(each => each.owner === owner)
  return rules.isUndone(moved) ? [] : moved
}

/** So many that the owner had reserved here are reserved again, though their row was closed, or is forgotten. */
function promiseAgain(books: Books, row: Row, quantity: number, rules: FactRules): void {
  if (row.quantity === 0 || !isOpen(row)) {
    row.quantity = rules.promised(row)
    row.state = 'confirmed'
  }
  const undone = Math.min(quantity, row.fulfilled)
  row.fulfilled -= undone
  row.quantity += quantity - undone
  books.noteRow(row)
}

/** What was said to have left never did: all of it goes back to where it was, with what was reserved of it. */
export function unship(books: Books, operation: Unship, rules: FactRules, note: Note): readonly OpenLevel[] {
  const { owner, shipment } = operation
  return shippedBy(books, operation, rules).map(({ itemId, locationId, onHandDelta, reservedDelta }) => {
    const level = books.levelAt(itemId, locationId)
    if (reservedDelta === 0) note('unship-surplus')
    else {
      const row = books.rowAt(owner, level)
      note(row.quantity === 0 ? 'unship-forgotten' : isOpen(row) ? 'unship' : 'unship-opens')
      promiseAgain(books, row, -reservedDelta, rules)
    }
    // `0 -`, as a minus alone makes -0 of 0.
    const back = { onHandDelta: 0 - onHandDelta, reservedDelta: 0 - reservedDelta }
    books.move(level, { kind: 'unship', ...back, operation: shipment, owner })
    return level
  })
}

export function takeBack(books: Books, { id, owner, parts, locationId }: Request, note: Note): Outcome {
  for (const [itemId, quantity] of sumsOf(parts ?? [])) {
    if (!books.item(itemId)?.tracked) continue
    note('return')
    const level = factLevel(books, itemId, locationId)
    books.move(level, { kind: 'return', onHandDelta: quantity, reservedDelta: 0, operation: id, owner })
  }
  return { kind: 'done' }
}

/** Whether there is something to count: nobody makes a level of what is not tracked. */
const isCounted = (books: Books, itemId: string, locationId: string): boolean => {
  const item = books.item(itemId)
  if (item === undefined || item.tracked) return item !== undefined
  return books.levelsOf(itemId).some(level => level.locationId === locationId)
}

/** What was counted or corrected. */
export function recount(books: Books, operation: Count | Adjust, rules: FactRules, note: Note) {
  const { id, kind, actor, reason } = operation
  const stale = new Set<string>()
  const touched: OpenLevel[] = []
  const change = (level: OpenLevel, onHandDelta: number) => {
    touched.push(level)
    if (kind === 'count') note(onHandDelta === 0 ? 'count-same' : 'count')
    else note(level.onHand + onHandDelta < 0 ? 'adjust-negative' : 'adjust')
    if (onHandDelta === 0) return
    books.move(level, { kind, onHandDelta, reservedDelta: 0, operation: id, owner: null, actor, reason })
  }
  for (const line of operation.lines) {
    if (!isCounted(books, line.itemId, line.locationId)) continue
    const level = books.levelAt(line.itemId, line.locationId)
    if ('delta' in line) change(level, line.delta)
    else if (rules.isStale(level, line)) {
      note('count-stale')
      stale.add(line.itemId)
    } else {
      setRest(books, level, line)
      change(level, (line.onHand ?? level.onHand) - level.onHand)
    }
  }
  return { stale: [...stale], touched }
}

/** What a count says besides the quantity, of which there is no movement. */
function setRest(books: Books, level: OpenLevel, line: Count['lines'][number]): void {
  const { safety, sourceVersion } = {
    safety: line.safety ?? level.safety,
    sourceVersion: line.sourceVersion ?? level.sourceVersion
  }
  if (safety === level.safety && sourceVersion === level.sourceVersion) return
  level.safety = safety
  level.sourceVersion = sourceVersion
  books.noteLevel(level)
}
