import { largestAllowedQuantity, type QuantityRule } from '../../../kernel/quantity-rule.ts'
import type { CartLimits, CartLine } from '../carts/lines.ts'

/**
 * The quantity of a variant that is in both carts: the sum, the larger one, the guest's, or the customer's.
 * Lines that only one cart has are kept with every strategy.
 */
export type CartMergeStrategy = 'sum' | 'max' | 'guest' | 'customer'

/** The reason why a merged line has fewer units than the strategy requires. */
type AdjustmentReason =
  | 'unavailable'
  | 'quantity_limit'
  | 'quantity_rule'
  | 'insufficient_stock'
  | 'line_limit'
/** A reduced line: the strategy requires `requested`, and the cart has `granted`. */
export type CartMergeAdjustment = {
  variantId: string
  requested: number
  granted: number
  reason: AdjustmentReason
}
export type CartMergeOutcome = {
  /** The lines to set in the customer's cart: new lines and lines with another quantity. */
  changed: CartLine[]
  adjustments: CartMergeAdjustment[]
}
/**
 * The quantities of a variant that can be bought: at most `stock` (`null`: unlimited), and as its rule
 * allows.
 */
export type SellableVariant = { readonly stock: number | null; readonly rule: QuantityRule }
/** Returns `undefined` for a variant that is not for sale. */
export type FindSellableVariant = (variantId: string) => SellableVariant | undefined

const COMBINE: Record<CartMergeStrategy, (customer: number, guest: number) => number> = {
  sum: (customer, guest) => customer + guest,
  max: (customer, guest) => Math.max(customer, guest),
  guest: (_customer, guest) => guest,
  customer: customer => customer
}

/**
 * Merges the lines of a guest (each variant once) into those of a customer. Limits, quantity rules and stock
 * reduce what is added, never what the customer's cart had before. Each reduction is in `adjustments`.
 */
export function mergeCartLines(
  customer: readonly CartLine[],
  guest: readonly CartLine[],
  strategy: CartMergeStrategy,
  limits: CartLimits,
  sellableOf: FindSellableVariant
): CartMergeOutcome {
  const present = new Map(customer.map(line => [line.variantId, line.quantity]))
  const changed: CartLine[] = []
  const adjustments: CartMergeAdjustment[] = []
  let lineCount = customer.length

  for (const { variantId, quantity } of guest) {
    const had = present.get(variantId)
    const requested = had === undefined ? quantity : COMBINE[strategy](had, quantity)
    if (requested === had) continue
    const hasRoom = had !== undefined || lineCount < limits.linesMax
    const cut = allowedQuantity(requested, sellableOf(variantId), hasRoom, limits)
    const granted = Math.max(cut.quantity, Math.min(had ?? 0, requested))
    if (granted < requested) adjustments.push({ variantId, requested, granted, reason: cut.reason })
    if (granted === (had ?? 0)) continue
    if (had === undefined) lineCount += 1
    changed.push({ variantId, quantity: granted })
  }
  return { changed, adjustments }
}

/** Returns the allowed part of `requested`, and the reason why it is not more. */
function allowedQuantity(
  requested: number,
  sellable: SellableVariant | undefined,
  hasRoom: boolean,
  { lineQuantityMax }: CartLimits
): { quantity: number; reason: AdjustmentReason } {
  if (sellable === undefined) return { quantity: 0, reason: 'unavailable' }
  if (!hasRoom) return { quantity: 0, reason: 'line_limit' }
  const { stock, rule } = sellable
  const allowed = Math.min(requested, lineQuantityMax)
  const most = Math.min(allowed, stock ?? allowed)
  const quantity = largestAllowedQuantity(most, rule)
  if (quantity < most) return { quantity, reason: 'quantity_rule' }
  return { quantity, reason: most < allowed ? 'insufficient_stock' : 'quantity_limit' }
}

/** Adds up lines of the same variant, because items that a browser stored can repeat a variant. */
export function sumCartLinesByVariant(lines: readonly CartLine[]): CartLine[] {
  const quantities = new Map<string, number>()
  for (const { variantId, quantity } of lines)
    quantities.set(variantId, (quantities.get(variantId) ?? 0) + quantity)
  return [...quantities].map(([variantId, quantity]) => ({ variantId, quantity }))
}
