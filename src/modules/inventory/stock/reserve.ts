import { freeAt } from './availability.ts'
import { type Books, isOpen, leftOf, type OpenLevel, type Row } from './books.ts'
import { type Note, noteNeeds, noteShort } from './branches.ts'
import { giveBack } from './facts.ts'
import { findShort, type PlaceRules, place, sumsOf, wantedOf } from './place.ts'
import type { Item, Level, Outcome, Part, Reserve } from './state.ts'

type Rules = PlaceRules & typeof RESERVE_RULES
export const RESERVE_RULES = {
  /** The rows that say what the owner has. */
  answering: (rows: readonly Row[]): readonly Row[] => rows.filter(isOpen),
  /** Whether rows are what is wanted: item by item the same quantities, wherever they lie. */
  isSame(rows: readonly Row[], wanted: ReadonlyMap<string, number>): boolean {
    const sums = sumsOf(rows)
    return sums.size === wanted.size && [...sums].every(([itemId, sum]) => wanted.get(itemId) === sum)
  },
  /** The rows that make room for other lines of the same owner. */
  replaced: (rows: readonly Row[]): readonly Row[] => rows,
  /** How many units of an item may be contested. */
  contestable: ({ contest }: Reserve, itemId: string): number => contest?.get(itemId) ?? 0
}

/** All or nothing: what is refused changes nothing, and what the owner held before is held still. */
export function reserve(books: Books, operation: Reserve, rules: Rules, note: Note): Outcome {
  const { owner, needs, seconds } = operation
  const rows = rules.answering(books.rowsOf(owner))
  const isCounted = (itemId: string) => books.item(itemId)?.tracked === true
  const wanted = wantedOf(needs, rules)
  for (const itemId of wanted.keys())
    if (!isCounted(itemId) && !rows.some(row => row.itemId === itemId)) wanted.delete(itemId)

  const isHeld = rows.every(row => row.state === 'held')
  if (rows.length > 0 && rules.isSame(rows, wanted)) {
    note(isHeld ? 'reserved-again-held' : 'reserved-again-claimed')
    if (isHeld) for (const row of rows) hold(books, row, seconds)
    return { kind: 'reserved', contested: [] }
  }
  if (!isHeld) {
    note('taken')
    return { kind: 'taken' }
  }

  const replaced = rules.replaced(rows)
  const levelsOf = (itemId: string) => withoutRows(books.levelsOf(itemId), replaced)
  noteNeeds(needs, books, note)
  const short = findShort(needs, { item: books.item, levelsOf }, rules)
  const availableOf = (itemId: string) => rules.availableOf(books.item(itemId), levelsOf(itemId))
  const contested = short.length > 0 ? contestedOf(wanted, availableOf) : []
  const mayContest = contested.every(part => part.quantity <= rules.contestable(operation, part.itemId))
  if (short.length > 0 && !mayContest) {
    if (operation.contest !== undefined) note('contest-refused')
    noteShort(needs, short, books, note)
    if (rows.length > 0) note('replace-refused')
    return { kind: 'short', lines: short }
  }
  note(rows.length > 0 ? 'replaced' : books.rowsOf(owner).length > 0 ? 'judged-anew' : 'reserved-fresh')
  for (const row of replaced) giveBack(books, operation, row, leftOf(row))
  if (contested.length > 0) note('contested')
  for (const { itemId, quantity } of contested) wanted.set(itemId, (wanted.get(itemId) ?? 0) - quantity)
  for (const [itemId, quantity] of wanted) {
    const item = books.item(itemId)
    if (!item?.tracked || quantity === 0) continue
    for (const row of add(books, operation, { item, quantity }, rules, note)) hold(books, row, seconds)
  }
  return { kind: 'reserved', contested }
}

/** Units of the wanted items that cannot be reserved now. */
const contestedOf = (wanted: ReadonlyMap<string, number>, availableOf: (itemId: string) => number): Part[] =>
  [...wanted].flatMap(([itemId, quantity]) => {
    const rest = quantity - Math.max(0, availableOf(itemId))
    return rest > 0 ? [{ itemId, quantity: rest }] : []
  })

function hold(books: Books, row: Row, seconds: number): void {
  row.state = 'held'
  row.isDue = false
  row.seconds = seconds
  books.noteRow(row)
}

/** The levels as they are when these rows have been given back. */
function withoutRows(levels: readonly OpenLevel[], rows: readonly Row[]): readonly Level[] {
  if (rows.length === 0) return levels
  return levels.map(level => {
    const row = rows.find(each => each.itemId === level.itemId && each.locationId === level.locationId)
    return row === undefined ? level : { ...level, reserved: level.reserved - leftOf(row) }
  })
}

/** Adds units of which there are enough to the owner's rows, and returns these rows. */
export function add(
  books: Books,
  { id, owner }: Pick<Reserve, 'id' | 'owner'>,
  { item, quantity }: { readonly item: Item; readonly quantity: number },
  rules: PlaceRules,
  note: Note
): Row[] {
  const levels = books.levelsOf(item.id)
  const places = place(levels, quantity, rules)
  note(places.length > 1 ? 'split' : 'one-location')
  if (places.some(each => each.quantity > freeAt(each.level)))
    note(item.backorder === 'any' ? 'any' : 'backorder')
  return places.map(({ level, quantity: reservedDelta }) => {
    const allowedAfter = rules.allowedAt(item, levels, level)
    books.move(level, { kind: 'reserve', onHandDelta: 0, reservedDelta, allowedAfter, operation: id, owner })
    const row = books.rowAt(owner, level)
    if (!isOpen(row)) row.quantity = row.fulfilled = 0
    row.quantity += reservedDelta
    return row
  })
}
