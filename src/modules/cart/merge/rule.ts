import { type BuyingRule, fitting } from '../../../kernel/buying-rule.ts'
import type { CartLimits, Line } from '../carts/lines.ts'

/**
 * How two lines of one variant become one: their sum, the larger, the guest's, or the customer's. Lines that only
 * one of the carts has are kept whatever the strategy.
 */
export type MergeStrategy = 'sum' | 'max' | 'guest' | 'customer'

/** Why a line got less than the strategy asked for. */
type CutReason = 'unavailable' | 'quantity_limit' | 'quantity_rule' | 'insufficient_stock' | 'line_limit'
/** What was cut: the line was to have `requested` and has `granted`. */
export type Adjustment = { variantId: string; requested: number; granted: number; reason: CutReason }
export type MergeOutcome = {
  /** The lines to set in the customer's cart: those that are new or have another quantity. */
  changed: Line[]
  adjustments: Adjustment[]
}
/** In which quantities a variant can be bought: at most `stock` (`null`: any number), as its rule says. */
export type Sellable = { readonly stock: number | null; readonly rule: BuyingRule }
/** `undefined`: it cannot be bought at all. */
export type SellableOf = (variantId: string) => Sellable | undefined

const COMBINE: Record<MergeStrategy, (customer: number, guest: number) => number> = {
  sum: (customer, guest) => customer + guest,
  max: (customer, guest) => Math.max(customer, guest),
  guest: (_customer, guest) => guest,
  customer: customer => customer
}

/**
 * Merges a guest's lines (each variant once) into a customer's. Limits, rules and stock cut what is added, never what the
 * customer had already; every cut is reported.
 */
export function mergeLines(
  customer: readonly Line[],
  guest: readonly Line[],
  strategy: MergeStrategy,
  limits: CartLimits,
  sellableOf: SellableOf
): MergeOutcome {
  const present = new Map(customer.map(line => [line.variantId, line.quantity]))
  const changed: Line[] = []
  const adjustments: Adjustment[] = []
  let lineCount = customer.length

  for (const { variantId, quantity } of guest) {
    const had = present.get(variantId)
    const requested = had === undefined ? quantity : COMBINE[strategy](had, quantity)
    if (requested === had) continue
    const hasRoom = had !== undefined || lineCount < limits.linesMax
    const cut = cap(requested, sellableOf(variantId), hasRoom, limits)
    const granted = Math.max(cut.quantity, Math.min(had ?? 0, requested))
    if (granted < requested) adjustments.push({ variantId, requested, granted, reason: cut.reason })
    if (granted === (had ?? 0)) continue
    if (had === undefined) lineCount += 1
    changed.push({ variantId, quantity: granted })
  }
  return { changed, adjustments }
}

/** How much of `requested` can be had, and what stands in the way of more. */
function cap(
  requested: number,
  sellable: Sellable | undefined,
  hasRoom: boolean,
  { lineQuantityMax }: CartLimits
): { quantity: number; reason: CutReason } {
  if (sellable === undefined) return { quantity: 0, reason: 'unavailable' }
  if (!hasRoom) return { quantity: 0, reason: 'line_limit' }
  const { stock, rule } = sellable
  const allowed = Math.min(requested, lineQuantityMax)
  const most = Math.min(allowed, stock ?? allowed)
  const quantity = fitting(most, rule)
  if (quantity < most) return { quantity, reason: 'quantity_rule' }
  return { quantity, reason: most < allowed ? 'insufficient_stock' : 'quantity_limit' }
}

/** Adds up lines of the same variant: a cart kept in a browser may name one twice. */
export function sumByVariant(lines: readonly Line[]): Line[] {
  const quantities = new Map<string, number>()
  for (const { variantId, quantity } of lines)
    quantities.set(variantId, (quantities.get(variantId) ?? 0) + quantity)
  return [...quantities].map(([variantId, quantity]) => ({ variantId, quantity }))
}
