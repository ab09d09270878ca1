import { availableUnitsOfItem, type StockLevelQuantities, stockStatusOf } from './availability.ts'
import type { InventoryItemStockPolicy, LockedStockState, StockStatusChange } from './state.ts'

type Kits = LockedStockState['kitsOf'] extends ReadonlyMap<string, infer K> ? K : never

/** Returns the status changes of an item and its kits when its levels change from `before` to `now`. */
export function findStockStatusChanges(
  item: InventoryItemStockPolicy,
  kits: Kits | undefined,
  { before, now }: { before: readonly StockLevelQuantities[]; now: readonly StockLevelQuantities[] }
): StockStatusChange[] {
  const availableBefore = availableUnitsOfItem(item, before)
  const available = availableUnitsOfItem(item, now)
  if (availableBefore === available) return []
  const crossed = new Map<StockStatusChange['status'], string[]>()
  for (const { variantId, quantity } of [{ variantId: item.id, quantity: 1 }, ...(kits ?? [])]) {
    const status = stockStatusOf(item, available, quantity)
    if (status === stockStatusOf(item, availableBefore, quantity)) continue
    crossed.set(status, [...(crossed.get(status) ?? []), variantId])
  }
  return [...crossed].map(([status, variantIds]) => ({ itemId: item.id, variantIds, available, status }))
}
