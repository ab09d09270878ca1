import { quoteTooLarge } from '../errors.ts'
import { sumOf } from './components.ts'
import type { QuoteInput } from './input.ts'

/** What a buyer can ask for in one quote. */
export const QUOTE_LIMITS = {
  lines: 200,
  groups: 50,
  codes: 10,
  /** Of all lines before discounts: with tax and shipping it is a safe integer still. */
  subtotal: 2_000_000_000_000_000
}

/** So many promotions a quote takes in good time. Rules are never more, so that no administrator keeps a shop from quoting. */
export const PROMOTIONS_MAX = 200
/** So many promotions take something off one line or delivery; there it ends, so that what an order keeps is bounded. */
export const PROMOTIONS_OF_ONE_MAX = 20

/** @throws `PRICING_QUOTE_TOO_LARGE` */
export function checkLimits({ lines, groups, codes }: QuoteInput): void {
  const sizes = {
    lines: lines.length,
    groups: groups.length,
    codes: codes.length,
    subtotal: sumOf(lines, line => line.priceMinor * line.quantity)
  }
  for (const [what, limit] of Object.entries(QUOTE_LIMITS))
    if (sizes[what as keyof typeof sizes] > limit) throw quoteTooLarge({ details: { what, limit } })
}
