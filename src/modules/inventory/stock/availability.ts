import type { Item, Level, Status } from './state.ts'

type Quantities = Pick<Level, 'onHand' | 'safety' | 'reserved'>
/** What of a level says how much can be bought. */
export type Figures = Quantities & Pick<Level, 'active'>

/** What of a level may be sold before anybody waits for a delivery. */
export const sellableAt = (level: Quantities): number => Math.max(0, level.onHand - level.safety)
export const freeAt = (level: Figures): number =>
  level.active ? Math.max(0, sellableAt(level) - level.reserved) : 0
/** What is promised at a level and has yet to be delivered there. */
export const excessAt = (level: Quantities): number => Math.max(0, level.reserved - sellableAt(level))

export const sumOf = <T>(list: readonly T[], of: (each: T) => number): number =>
  list.reduce((sum, each) => sum + of(each), 0)

/** What is left of the item's backorder limit, which is one for all locations together. */
function backorderRest(item: Item, levels: readonly Figures[]): number {
  if (item.backorder === 'none') return 0
  if (item.backorder === 'any') return Number.POSITIVE_INFINITY
  return Math.max(0, (item.backorderLimit ?? 0) - sumOf(levels, excessAt))
}

/** How many of an item can be promised now: any number of one that is not tracked, none without an active location. */
export function availableOf(item: Item | undefined, levels: readonly Figures[]): number {
  if (!item?.tracked) return Number.POSITIVE_INFINITY
  if (!levels.some(level => level.active)) return 0
  return sumOf(levels, freeAt) + backorderRest(item, levels)
}

/** Where a variant stands that takes so many of the item: the item itself one, a kit what it has of it. */
export function statusOf(item: Item, available: number, quantity = 1): Status {
  if (!item.tracked) return 'untracked'
  if (Math.floor(available / quantity) <= 0) return 'out'
  return item.lowThreshold !== null && available <= item.lowThreshold ? 'low' : 'in'
}
