import { sumBy } from '../../../kernel/sum-by.ts'
import {
  availableUnitsOfItem,
  backorderedUnitsAtLevel,
  type StockLevelQuantities,
  sellableUnitsAtLevel,
  unreservedUnitsAtLevel
} from './availability.ts'
import type { InventoryItemQuantity, InventoryItemStockPolicy, KitExpandedLine, StockLevel } from './state.ts'

export type StockLevelAllocation<L extends StockLevel = StockLevel> = {
  readonly level: L
  readonly quantity: number
}
type Shortage = { variantId: string; requested: number; available: number }

/** Sums quantities by item. */
export function sumQuantitiesByItem(parts: readonly InventoryItemQuantity[]): Map<string, number> {
  const sums = new Map<string, number>()
  for (const { itemId, quantity } of parts) sums.set(itemId, (sums.get(itemId) ?? 0) + quantity)
  return sums
}

/** Returns how many units of each item a basket needs. */
export const sumRequestedUnitsByItem = (
  needs: readonly KitExpandedLine[],
  rules: StockAllocationRules
): Map<string, number> =>
  sumQuantitiesByItem(
    needs.flatMap(need =>
      rules.partsOf(need).map(part => ({ itemId: part.itemId, quantity: part.quantity * need.quantity }))
    )
  )

export type StockAllocationRules = typeof STOCK_ALLOCATION_RULE_FUNCTIONS
export const STOCK_ALLOCATION_RULE_FUNCTIONS = {
  partsOf: (need: KitExpandedLine): readonly InventoryItemQuantity[] => need.parts,
  availableOf: availableUnitsOfItem,
  /** Levels of active locations. */
  sellingOf: <L extends StockLevelQuantities>(levels: readonly L[]): readonly L[] =>
    levels.filter(level => level.active),
  /**
   * Returns how many units may be reserved at a level in total, given the backorders at the other
   * locations. Null: unlimited.
   */
  allowedAt(item: InventoryItemStockPolicy, levels: readonly StockLevel[], level: StockLevel): number | null {
    if (item.backorder === 'any') return null
    const elsewhere = sumBy(levels, backorderedUnitsAtLevel) - backorderedUnitsAtLevel(level)
    const limit = item.backorder === 'limit' ? (item.backorderLimit ?? 0) : 0
    return sellableUnitsAtLevel(level) + Math.max(0, limit - elsewhere)
  }
}

/** Returns the lines that are short. Each line is checked after the earlier lines that fit. */
export function findLinesShortOfStock(
  needs: readonly KitExpandedLine[],
  stock: {
    item: (itemId: string) => InventoryItemStockPolicy | undefined
    levelsOf: (itemId: string) => readonly StockLevel[]
  },
  rules: StockAllocationRules
): Shortage[] {
  const rest = new Map<string, number>()
  const short: Shortage[] = []
  const restOf = (itemId: string): number =>
    rest.get(itemId) ?? rules.availableOf(stock.item(itemId), stock.levelsOf(itemId))
  for (const need of needs) {
    const parts = sumQuantitiesByItem(rules.partsOf(need).filter(part => stock.item(part.itemId)?.tracked))
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
export function allocateToStockLevels<L extends StockLevel>(
  levels: readonly L[],
  quantity: number,
  rules: StockAllocationRules
): StockLevelAllocation<L>[] {
  const selling = rules.sellingOf(levels)
  const whole = selling.find(level => unreservedUnitsAtLevel(level) >= quantity)
  if (whole !== undefined) return [{ level: whole, quantity }]
  const places = selling.map(level => ({ level, quantity: unreservedUnitsAtLevel(level) }))
  let rest = quantity
  for (const each of places) {
    each.quantity = Math.min(each.quantity, rest)
    rest -= each.quantity
  }
  if (places[0] !== undefined) places[0].quantity += rest
  return places.filter(each => each.quantity > 0)
}
