import { fits } from '../../../kernel/buying-rule.ts'
import type { QuotedVariant } from '../../catalog/index.ts'
import { type Finding, finding } from './findings.ts'

/** So many of a variant. */
export type Line = { readonly variantId: string; readonly quantity: number }
/** One that can be bought in the market that was asked. */
export type SoldLine = Line & { readonly variant: SoldVariant }
type SoldVariant = QuotedVariant & { readonly price: NonNullable<QuotedVariant['price']> }
/** One that cannot, with the last name that is known. */
export type UnsoldLine = Line & { readonly name: string | null }

/** Lines of one variant become one, in the place of the first. */
export function mergeLines(lines: readonly Line[]): Line[] {
  const quantities = new Map<string, number>()
  for (const { variantId, quantity } of lines)
    quantities.set(variantId, (quantities.get(variantId) ?? 0) + quantity)
  return [...quantities].map(([variantId, quantity]) => ({ variantId, quantity }))
}

/** What lines are judged by. Variants and stock in the order of the lines. */
export type Shelf = {
  /** `undefined`: there is no such variant. */
  readonly variants: readonly (QuotedVariant | undefined)[]
  /** How many can be bought of each; `undefined`: nobody counts. */
  readonly stock: readonly (number | null)[] | undefined
  /** The largest quantity of a line of any variant. */
  readonly lineQuantityMax: number
}
type Judged = { sold: SoldLine[]; unsold: UnsoldLine[]; findings: Finding[] }

/** Which lines can be bought, and what stands against each. */
export function judgeLines(lines: readonly Line[], { variants, stock, lineQuantityMax }: Shelf): Judged {
  const judged: Judged = { sold: [], unsold: [], findings: [] }
  for (const [index, line] of lines.entries()) {
    const variant = variants[index]
    const { variantId, quantity } = line
    if (variant !== undefined && isSold(variant)) {
      judged.sold.push({ ...line, variant })
      const { min, max, step } = variant.rule
      const rule = { min, max: Math.min(max ?? lineQuantityMax, lineQuantityMax), step }
      const available = stock?.[index] ?? null
      if (!fits(quantity, rule)) judged.findings.push(finding('QUANTITY_RULE', { variantId, rule }))
      if (available !== null && available < quantity)
        judged.findings.push(finding('STOCK_SHORT', { variantId, available }))
    } else {
      judged.unsold.push({ ...line, name: variant?.name ?? null })
      const code = variant?.isActive === true ? 'VARIANT_NOT_IN_MARKET' : 'VARIANT_UNAVAILABLE'
      judged.findings.push(finding(code, { variantId }))
    }
  }
  return judged
}

const isSold = (variant: QuotedVariant): variant is SoldVariant => variant.isActive && variant.price !== null
