import { sumBy } from '../../../kernel/sum-by.ts'
import type { InventoryItemStockPolicy, StockLevel, StockStatus } from './state.ts'

type Quantities = Pick<StockLevel, 'onHand' | 'safety' | 'reserved'>
/** The fields of a level that decide how much can be bought. */
export type StockLevelQuantities = Quantities & Pick<StockLevel, 'active'>

/** Units that can be sold without a backorder. */
export const sellableUnitsAtLevel = (level: Quantities): number => Math.max(0, level.onHand - level.safety)
export const unreservedUnitsAtLevel = (level: StockLevelQuantities): number =>
  level.active ? Math.max(0, sellableUnitsAtLevel(level) - level.reserved) : 0
/** Reserved units that exceed the sellable stock of a level: its backorders. */
export const backorderedUnitsAtLevel = (level: Quantities): number =>
  Math.max(0, level.reserved - sellableUnitsAtLevel(level))

/** Returns the unused backorder limit, which is shared by all locations. */
function backorderRest(item: InventoryItemStockPolicy, levels: readonly StockLevelQuantities[]): number {
  if (item.backorder === 'none') return 0
  if (item.backorder === 'any') return Number.POSITIVE_INFINITY
  return Math.max(0, (item.backorderLimit ?? 0) - sumBy(levels, backorderedUnitsAtLevel))
}

/**
 * Returns how many units can be reserved now: unlimited for an untracked item, zero without an active
 * location.
 */
export function availableUnitsOfItem(
  item: InventoryItemStockPolicy | undefined,
  levels: readonly StockLevelQuantities[]
): number {
  if (!item?.tracked) return Number.POSITIVE_INFINITY
  if (!levels.some(level => level.active)) return 0
  return sumBy(levels, unreservedUnitsAtLevel) + backorderRest(item, levels)
}

/**
 * Returns the status of a variant that needs `quantity` units of the item: 1 for the item itself, more for
 * a kit.
 */
export function stockStatusOf(item: InventoryItemStockPolicy, available: number, quantity = 1): StockStatus {
  if (!item.tracked) return 'untracked'
  if (Math.floor(available / quantity) <= 0) return 'out'
  return item.lowThreshold !== null && available <= item.lowThreshold ? 'low' : 'in'
}
