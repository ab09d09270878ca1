import { availableOf, excessAt, freeAt, type LevelFigures, sellableAt, sumOf } from './availability.ts'
import type { ExpandedLine, StockItem, StockLevel, StockPart } from './state.ts'

export type Allocation<L extends StockLevel = StockLevel> = { readonly level: L; readonly quantity: number }
type Shortage = { variantId: string; requested: number; available: number }

/** Sums quantities by item. */
export function quantitiesByItem(parts: readonly StockPart[]): Map<string, number> {
  const sums = new Map<string, number>()
  for (const { itemId, quantity } of parts) sums.set(itemId, (sums.get(itemId) ?? 0) + quantity)
  return sums
}

/** Returns how many units of each item a basket needs. */
export const requestedByItem = (
  needs: readonly ExpandedLine[],
  rules: AllocationRules
): Map<string, number> =>
  quantitiesByItem(
    needs.flatMap(need =>
      rules.partsOf(need).map(part => ({ itemId: part.itemId, quantity: part.quantity * need.quantity }))
    )
  )

export type AllocationRules = typeof ALLOCATION_RULES
export const ALLOCATION_RULES = {
  partsOf: (need: ExpandedLine): readonly StockPart[] => need.parts,
  availableOf,
  /** Levels of active locations. */
  sellingOf: <L extends LevelFigures>(levels: readonly L[]): readonly L[] =>
    levels.filter(level => level.active),
  /**
   * Returns how many units may be reserved at a level in total, given the backorders at the other
   * locations. Null: unlimited.
   */
  allowedAt(item: StockItem, levels: readonly StockLevel[], level: StockLevel): number | null {
    if (item.backorder === 'any') return null
    const elsewhere = sumOf(levels, excessAt) - excessAt(level)
    const limit = item.backorder === 'limit' ? (item.backorderLimit ?? 0) : 0
    return sellableAt(level) + Math.max(0, limit - elsewhere)
  }
}

/** Returns the lines that are short. Each line is checked after the earlier lines that fit. */
export function findShort(
  needs: readonly ExpandedLine[],
  stock: {
    item: (itemId: string) => StockItem | undefined
    levelsOf: (itemId: string) => readonly StockLevel[]
  },
  rules: AllocationRules
): Shortage[] {
  const rest = new Map<string, number>()
  const short: Shortage[] = []
  const restOf = (itemId: string): number =>
    rest.get(itemId) ?? rules.availableOf(stock.item(itemId), stock.levelsOf(itemId))
  for (const need of needs) {
    const parts = quantitiesByItem(rules.partsOf(need).filter(part => stock.item(part.itemId)?.tracked))
    let available = Number.POSITIVE_INFINITY
    for (const [itemId, quantity] of parts)
      available = Math.min(available, Math.floor(restOf(itemId) / quantity))
    if (available < need.quantity)
      short.push({ variantId: need.variantId, requested: need.quantity, available })
    else for (const [itemId, quantity] of parts) rest.set(itemId, restOf(itemId) - quantity * need.quantity)
  }
  return short
}

/**
 * Chooses the levels for a quantity that is available: the first level that has all of it; otherwise level
 * by level. The rest is backordered at the first level.
 */
export function allocate<L extends StockLevel>(
  levels: readonly L[],
  quantity: number,
  rules: AllocationRules
): Allocation<L>[] {
  const selling = rules.sellingOf(levels)
  const whole = selling.find(level => freeAt(level) >= quantity)
  if (whole !== undefined) return [{ level: whole, quantity }]
  const places = selling.map(level => ({ level, quantity: freeAt(level) }))
  let rest = quantity
  for (const each of places) {
    each.quantity = Math.min(each.quantity, rest)
    rest -= each.quantity
  }
  if (places[0] !== undefined) places[0].quantity += rest
  return places.filter(each => each.quantity > 0)
}
