import { cartItemNotFound, lineLimitExceeded, quantityLimitExceeded } from '../errors.ts'

/** What a cart stores: how many of which variant. */
export type Line = { readonly variantId: string; readonly quantity: number }
/** How a cart changes: its lines as they are to be, and what has to be written for that. */
export type LineChange = {
  readonly lines: readonly Line[]
  readonly set: readonly Line[]
  /** Ids of variants. */
  readonly removed: readonly string[]
}
export type CartLimits = { readonly lineQuantityMax: number; readonly linesMax: number }

/** The line as it is after adding `quantity` to it. @throws when it, or the cart, grows past its limit. */
export function addLine(lines: readonly Line[], added: Line, limits: CartLimits): Line {
  const present = lines.find(line => line.variantId === added.variantId)
  if (present === undefined && lines.length >= limits.linesMax) {
    throw lineLimitExceeded({ details: { limit: limits.linesMax } })
  }
  return withinLimit({ ...added, quantity: (present?.quantity ?? 0) + added.quantity }, limits)
}

/** The line with another quantity. @throws `CART_ITEM_NOT_FOUND` when the cart has no such line. */
export function setLine(lines: readonly Line[], changed: Line, limits: CartLimits): Line {
  if (!lines.some(line => line.variantId === changed.variantId)) throw cartItemNotFound()
  return withinLimit(changed, limits)
}

function withinLimit(line: Line, { lineQuantityMax }: CartLimits): Line {
  if (line.quantity > lineQuantityMax) throw quantityLimitExceeded({ details: { limit: lineQuantityMax } })
  return line
}

/** Sets lines: changed ones keep their place, new ones come last. */
export const settingLines = (lines: readonly Line[], set: readonly Line[]): LineChange => ({
  lines: withLines(lines, set),
  set,
  removed: []
})

/** Takes these variants out; those that are not there are no error. */
export function removingLines(lines: readonly Line[], variantIds: readonly string[]): LineChange {
  const kept = lines.filter(line => !variantIds.includes(line.variantId))
  const removed = lines.filter(line => variantIds.includes(line.variantId)).map(line => line.variantId)
  return { lines: kept, set: [], removed }
}

/** The lines after some of them were set. */
export function withLines(lines: readonly Line[], set: readonly Line[]): Line[] {
  const changed = new Map(set.map(line => [line.variantId, line]))
  const kept = lines.map(line => changed.get(line.variantId) ?? line)
  const known = new Set(lines.map(line => line.variantId))
  return [...kept, ...set.filter(line => !known.has(line.variantId))]
}
