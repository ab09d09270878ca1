import { newId } from '../../../kernel/ids.ts'
import { lineEqualityKey, type Metadata, mergeEqualLines } from '../../../kernel/metadata.ts'
import { isAllowedQuantity } from '../../../kernel/quantity-rule.ts'
import { sumQuantitiesByVariant } from '../../../kernel/variant-quantities.ts'
import type { QuotedVariant } from '../../catalog/index.ts'
import { type CheckoutFinding, newCheckoutFinding } from './findings.ts'

/**
 * A line of a checkout as it is stored. `metadata`: data of the client, such as an engraving. Each line of a
 * checkout has another variant or other metadata.
 */
export type CheckoutLine = {
  readonly id: string
  readonly variantId: string
  readonly quantity: number
  readonly metadata: Metadata
}
/** A line whose variant is for sale in the market. */
export type CheckoutLineForSale = CheckoutLine & { readonly variant: SoldVariant }
type SoldVariant = QuotedVariant & { readonly price: NonNullable<QuotedVariant['price']> }
/** A line whose variant is not for sale, with its last known name. */
export type CheckoutLineNotForSale = CheckoutLine & { readonly name: string | null }

/**
 * Merges lines of the same variant with equal metadata into the first of them. A line gets the id of the equal line
 * of `stored`, otherwise a new one.
 */
export function mergeCheckoutLines(
  lines: readonly Omit<CheckoutLine, 'id'>[],
  stored: readonly CheckoutLine[] = []
): CheckoutLine[] {
  const idOf = new Map(stored.map(line => [lineEqualityKey(line), line.id]))
  return mergeEqualLines(lines).map(line => ({ ...line, id: idOf.get(lineEqualityKey(line)) ?? newId() }))
}

/**
 * Variants, stock and limits that lines are checked against. Variants and stock have the order of the lines.
 */
export type CheckoutLineCheckContext = {
  /** `undefined`: the variant does not exist. */
  readonly variants: readonly (QuotedVariant | undefined)[]
  /** Units that can be bought; null: unlimited. `undefined`: stock is not checked. */
  readonly stock: readonly (number | null)[] | undefined
  /** The largest quantity of any variant. */
  readonly lineQuantityMax: number
}
type CheckedLines = {
  sold: CheckoutLineForSale[]
  unsold: CheckoutLineNotForSale[]
  findings: CheckoutFinding[]
}

/**
 * Separates the lines that are for sale from the others, and finds what is wrong with each variant. Quantities are
 * checked for the sum of its lines.
 */
export function checkCheckoutLines(
  lines: readonly CheckoutLine[],
  { variants, stock, lineQuantityMax }: CheckoutLineCheckContext
): CheckedLines {
  const checked: CheckedLines = { sold: [], unsold: [], findings: [] }
  const sums = sumQuantitiesByVariant(lines)
  for (const [index, line] of lines.entries()) {
    const variant = variants[index]
    if (variant !== undefined && isSold(variant)) checked.sold.push({ ...line, variant })
    else checked.unsold.push({ ...line, name: variant?.name ?? null })
    const quantity = sums.get(line.variantId)
    if (quantity === undefined) continue
    sums.delete(line.variantId)
    const available = stock?.[index] ?? null
    checked.findings.push(
      ...findingsOfVariant({ variantId: line.variantId, quantity }, variant, available, lineQuantityMax)
    )
  }
  return checked
}

/** `available`: units that can be bought; null: unlimited. */
function findingsOfVariant(
  { variantId, quantity }: Pick<CheckoutLine, 'variantId' | 'quantity'>,
  variant: QuotedVariant | undefined,
  available: number | null,
  lineQuantityMax: number
): CheckoutFinding[] {
  if (variant === undefined || !isSold(variant)) {
    const code = variant?.isActive === true ? 'VARIANT_NOT_IN_MARKET' : 'VARIANT_UNAVAILABLE'
    return [newCheckoutFinding(code, { variantId })]
  }
  const { min, max, step } = variant.rule
  const rule = { min, max: Math.min(max ?? lineQuantityMax, lineQuantityMax), step }
  return [
    ...(isAllowedQuantity(quantity, rule) ? [] : [newCheckoutFinding('QUANTITY_RULE', { variantId, rule })]),
    ...(available !== null && available < quantity
      ? [newCheckoutFinding('STOCK_SHORT', { variantId, available })]
      : [])
  ]
}

const isSold = (variant: QuotedVariant): variant is SoldVariant => variant.isActive && variant.price !== null
