import { type Books, type OpenLevel, openBooks } from './books.ts'
import type { Note } from './branches.ts'
import { crossingsOf } from './crossings.ts'
import { drop, FACT_RULES, isShort, recount, release, ship, takeBack, unship } from './facts.ts'
import { findMissing } from './missing.ts'
import { PLACE_RULES } from './place.ts'
import { RESERVE_RULES, reserve } from './reserve.ts'
import type { Crossing, Decided, Level, Operation, Outcome, Stock } from './state.ts'
import { TAKE_RULES, take } from './take.ts'

/** What is decided in parts, so that a test can plant a fault in one of them. */
export const RULES = { ...PLACE_RULES, ...FACT_RULES, ...RESERVE_RULES, ...TAKE_RULES }

/**
 * What becomes of the stock by these operations, one after the other, each on what those before it left. Pure: the stock
 * that it is given stays as it is. `note` is told which case was met.
 */
export function decide(
  stock: Stock,
  operations: readonly Operation[],
  note: Note = () => {},
  rules = RULES
): Decided {
  const books = openBooks(stock)
  /** Levels that a count, an adjustment, a shipment, or undoing one, left behind. */
  const facts = new Set<OpenLevel>()
  const isShortNow = (level: OpenLevel) =>
    isShort(books.item(level.itemId), books.levelsOf(level.itemId), level)

  function settle(operation: Operation): Outcome {
    const missing = findMissing(books, operation)
    if (missing !== undefined) {
      note(missing.isRow ? 'later-row' : 'later-level')
      return { kind: 'later', itemIds: missing.itemIds }
    }
    switch (operation.kind) {
      case 'reserve':
        return reserve(books, operation, rules, note)
      case 'drop':
      case 'expire':
        return drop(books, operation, rules, note)
      case 'release':
        return release(books, operation, rules, note)
      case 'take':
        return take(books, operation, rules, note)
      case 'return':
        return takeBack(books, operation, note)
      case 'ship':
        for (const level of ship(books, operation, rules, note)) facts.add(level)
        return { kind: 'done' }
      case 'unship': {
        const levels = unship(books, operation, rules, note)
        for (const level of levels) facts.add(level)
        if (levels.length === 0) note('unship-nothing')
        return { kind: levels.length === 0 ? 'nothing' : 'done' }
      }
      default: {
        const { stale, touched } = recount(books, operation, rules, note)
        for (const level of touched) facts.add(level)
        const short = [...new Set(touched.filter(isShortNow).map(level => level.itemId))]
        if (short.length > 0 && operation.kind === 'count') note('count-short')
        return { kind: 'counted', stale, short }
      }
    }
  }

  const outcomes = operations.map(settle)
  const written = books.written()
  const shortfalls = [...facts].filter(isShortNow).map(({ itemId, locationId }) => ({ itemId, locationId }))
  return { outcomes, ...written, crossings: findCrossings(stock, books, written.levels, note), shortfalls }
}

function findCrossings(stock: Stock, books: Books, changed: readonly Level[], note: Note): Crossing[] {
  const itemIds = new Set([...changed.map(level => level.itemId), ...stock.opened])
  const crossings = [...itemIds].flatMap(itemId => {
    const item = stock.items.get(itemId)
    if (item === undefined) return []
    const before = stock.opened.has(itemId) ? [] : (stock.levels.get(itemId) ?? [])
    return crossingsOf(item, stock.kitsOf.get(itemId), { before, now: books.levelsOf(itemId) })
  })
  for (const { status, variantIds } of crossings)
    if (status !== 'untracked') for (const _ of variantIds) note(`crossed-${status}`)
  return crossings
}
