import { availableOf, type LevelFigures, statusOf } from './availability.ts'
import type { Crossing, StockItem, StockState } from './state.ts'

type Kits = StockState['kitsOf'] extends ReadonlyMap<string, infer K> ? K : never

/** Returns the status changes of an item and its kits when its levels change from `before` to `now`. */
export function crossingsOf(
  item: StockItem,
  kits: Kits | undefined,
  { before, now }: { before: readonly LevelFigures[]; now: readonly LevelFigures[] }
): Crossing[] {
  const availableBefore = availableOf(item, before)
  const available = availableOf(item, now)
  if (availableBefore === available) return []
  const crossed = new Map<Crossing['status'], string[]>()
  for (const { variantId, quantity } of [{ variantId: item.id, quantity: 1 }, ...(kits ?? [])]) {
    const status = statusOf(item, available, quantity)
    if (status === statusOf(item, availableBefore, quantity)) continue
    crossed.set(status, [...(crossed.get(status) ?? []), variantId])
  }
  return [...crossed].map(([status, variantIds]) => ({ itemId: item.id, variantIds, available, status }))
}
