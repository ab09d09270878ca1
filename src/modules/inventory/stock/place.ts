import { availableOf, excessAt, type Figures, freeAt, sellableAt, sumOf } from './availability.ts'
import type { Item, Level, Need, Part } from './state.ts'

export type Place<L extends Level = Level> = { readonly level: L; readonly quantity: number }
type Shortage = { variantId: string; requested: number; available: number }

/** Parts of the same item are one. */
export function sumsOf(parts: readonly Part[]): Map<string, number> {
  const sums = new Map<string, number>()
  for (const { itemId, quantity } of parts) sums.set(itemId, (sums.get(itemId) ?? 0) + quantity)
  return sums
}

/** What a basket takes of each item. */
export const wantedOf = (needs: readonly Need[], rules: PlaceRules): Map<string, number> =>
  sumsOf(
    needs.flatMap(need =>
      rules.partsOf(need).map(part => ({ itemId: part.itemId, quantity: part.quantity * need.quantity }))
    )
  )

export type PlaceRules = typeof PLACE_RULES
export const PLACE_RULES = {
  partsOf: (need: Need): readonly Part[] => need.parts,
  availableOf,
  /** The levels that sell. */
  sellingOf: <L extends Figures>(levels: readonly L[]): readonly L[] => levels.filter(level => level.active),
  /** How many may be reserved at a level, given what is promised too much at the others. */
  allowedAt(item: Item, levels: readonly Level[], level: Level): number | null {
    if (item.backorder === 'any') return null
    const elsewhere = sumOf(levels, excessAt) - excessAt(level)
    const limit = item.backorder === 'limit' ? (item.backorderLimit ?? 0) : 0
    return sellableAt(level) + Math.max(0, limit - elsewhere)
  }
}

/** The lines of a basket that do not fit, each judged behind those before it that do. */
export function findShort(
  needs: readonly Need[],
  stock: {
    item: (itemId: string) => Item | undefined
    levelsOf: (itemId: string) => readonly Level[]
  },
  rules: PlaceRules
): Shortage[] {
  const rest = new Map<string, number>()
  const short: Shortage[] = []
  const restOf = (itemId: string): number =>
    rest.get(itemId) ?? rules.availableOf(stock.item(itemId), stock.levelsOf(itemId))
  for (const need of needs) {
    const parts = sumsOf(rules.partsOf(need).filter(part => stock.item(part.itemId)?.tracked))
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
 * Where so many of an item, of which there is enough, are taken: at the first level that has all of them; else at one after
 * the other; what is missing then waits for a delivery at the first.
 */
export function place<L extends Level>(
  levels: readonly L[],
  quantity: number,
  rules: PlaceRules
): Place<L>[] {
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
