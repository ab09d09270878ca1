import { isAllowedQuantity } from '../../../kernel/quantity-rule.ts'
import type { QuotedVariant } from '../../catalog/index.ts'
import { type CheckoutFinding, newCheckoutFinding } from './findings.ts'

/** A quantity of one variant. */
export type CheckoutLine = { readonly variantId: string; readonly quantity: number }
/** A line whose variant is for sale in the market. */
export type AvailableCheckoutLine = CheckoutLine & { readonly variant: SoldVariant }
type SoldVariant = QuotedVariant & { readonly price: NonNullable<QuotedVariant['price']> }
/** A line whose variant is not for sale, with its last known name. */
export type UnavailableCheckoutLine = CheckoutLine & { readonly name: string | null }

/** Merges lines of the same variant into the first of them. */
export function mergeCheckoutLines(lines: readonly CheckoutLine[]): CheckoutLine[] {
  const quantities = new Map<string, number>()
  for (const { variantId, quantity } of lines)
    quantities.set(variantId, (quantities.get(variantId) ?? 0) + quantity)
  return [...quantities].map(([variantId, quantity]) => ({ variantId, quantity }))
}

/**
 * Variants, stock and limits that lines are checked against. Variants and stock have the order of the lines.
 */
export type CheckoutLineCheckContext = {
  /** `undefined`: the variant does not exist. */
  readonly variants: readonly (QuotedVariant | undefined)[]
  /** Units that can be bought; null: unlimited. `undefined`: stock is not checked. */
  readonly stock: readonly (number | null)[] | undefined
  /** The largest quantity of a line of any variant. */
  readonly lineQuantityMax: number
}
type CheckedLines = {
  sold: AvailableCheckoutLine[]
  unsold: UnavailableCheckoutLine[]
  findings: CheckoutFinding[]
}

/** Separates the lines that are for sale from the others, and finds what is wrong with each. */
export function checkCheckoutLines(
  lines: readonly CheckoutLine[],
  { variants, stock, lineQuantityMax }: CheckoutLineCheckContext
): CheckedLines {
  const checked: CheckedLines = { sold: [], unsold: [], findings: [] }
  for (const [index, line] of lines.entries()) {
    const variant = variants[index]
    const { variantId, quantity } = line
    if (variant !== undefined && isSold(variant)) {
      checked.sold.push({ ...line, variant })
      const { min, max, step } = variant.rule
      const rule = { min, max: Math.min(max ?? lineQuantityMax, lineQuantityMax), step }
      const available = stock?.[index] ?? null
      if (!isAllowedQuantity(quantity, rule))
        checked.findings.push(newCheckoutFinding('QUANTITY_RULE', { variantId, rule }))
      if (available !== null && available < quantity)
        checked.findings.push(newCheckoutFinding('STOCK_SHORT', { variantId, available }))
    } else {
      checked.unsold.push({ ...line, name: variant?.name ?? null })
      const code = variant?.isActive === true ? 'VARIANT_NOT_IN_MARKET' : 'VARIANT_UNAVAILABLE'
      checked.findings.push(newCheckoutFinding(code, { variantId }))
    }
  }
  return checked
}

const isSold = (variant: QuotedVariant): variant is SoldVariant => variant.isActive && variant.price !== null
