import { cartItemNotFoundError, cartLineLimitExceededError, quantityLimitExceededError } from '../errors.ts'

/** A line of a cart as it is stored: a variant and its quantity. */
export type CartLine = { readonly variantId: string; readonly quantity: number }
/** A change of a cart: its lines after the change, and the rows to write. */
export type CartLineChanges = {
  readonly lines: readonly CartLine[]
  readonly set: readonly CartLine[]
  /** Ids of variants. */
  readonly removed: readonly string[]
}
export type CartLimits = { readonly lineQuantityMax: number; readonly linesMax: number }

/** Returns the line after adding `added`. @throws `CART_LINE_LIMIT`, `CART_QUANTITY_LIMIT` */
export function addCartLine(lines: readonly CartLine[], added: CartLine, limits: CartLimits): CartLine {
  const present = lines.find(line => line.variantId === added.variantId)
  if (present === undefined && lines.length >= limits.linesMax) {
    throw cartLineLimitExceededError({ details: { limit: limits.linesMax } })
  }
  return withinLimit({ ...added, quantity: (present?.quantity ?? 0) + added.quantity }, limits)
}

/** Returns the line with its new quantity. @throws `CART_ITEM_NOT_FOUND` when the cart has no such line. */
export function setCartLine(lines: readonly CartLine[], changed: CartLine, limits: CartLimits): CartLine {
  if (!lines.some(line => line.variantId === changed.variantId)) throw cartItemNotFoundError()
  return withinLimit(changed, limits)
}

function withinLimit(line: CartLine, { lineQuantityMax }: CartLimits): CartLine {
  if (line.quantity > lineQuantityMax)
    throw quantityLimitExceededError({ details: { limit: lineQuantityMax } })
  return line
}

/** Sets lines: existing lines keep their position, new lines come last. */
export const upsertCartLines = (lines: readonly CartLine[], set: readonly CartLine[]): CartLineChanges => ({
  lines: withUpsertedCartLines(lines, set),
  set,
  removed: []
})

/** Removes the lines of these variants. Ignores variants that are not in the cart. */
export function removeCartLines(lines: readonly CartLine[], variantIds: readonly string[]): CartLineChanges {
  const kept = lines.filter(line => !variantIds.includes(line.variantId))
  const removed = lines.filter(line => variantIds.includes(line.variantId)).map(line => line.variantId)
  return { lines: kept, set: [], removed }
}

/** Returns the lines with those of `set` changed or added. */
export function withUpsertedCartLines(lines: readonly CartLine[], set: readonly CartLine[]): CartLine[] {
  const changed = new Map(set.map(line => [line.variantId, line]))
  const kept = lines.map(line => changed.get(line.variantId) ?? line)
  const known = new Set(lines.map(line => line.variantId))
  return [...kept, ...set.filter(line => !known.has(line.variantId))]
}
