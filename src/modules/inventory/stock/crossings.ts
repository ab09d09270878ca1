import { availableOf, type Figures, statusOf } from './availability.ts'
import type { Crossing, Item, Stock } from './state.ts'

type Kits = Stock['kitsOf'] extends ReadonlyMap<string, infer K> ? K : never

/** What crosses when an item has these levels and had others: the item itself, and the kits that it is a part of. */
export function crossingsOf(
  item: Item,
  kits: Kits | undefined,
  { before, now }: { before: readonly Figures[]; now: readonly Figures[] }
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
