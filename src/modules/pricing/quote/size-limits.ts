import { sumBy } from '../../../kernel/sum-by.ts'
import { quoteTooLargeError } from '../errors.ts'
import type { QuoteInput } from './input.ts'

/** Size limits of a quote. */
export const QUOTE_SIZE_LIMITS = {
  lines: 200,
  groups: 50,
  codes: 10,
  /** Sum of all lines before discounts; with tax and shipping it stays a safe integer. */
  subtotal: 2_000_000_000_000_000
}

/**
 * Maximum promotions of a quote, which bounds its run time. Reads of rules are limited to it, so that too
 * many promotions never block quotes.
 */
export const PROMOTIONS_PER_QUOTE_MAX = 200
/** Maximum promotions per variant or delivery, which bounds the components stored with an order. */
export const PROMOTIONS_PER_LINE_OR_DELIVERY_MAX = 20

/** @throws `PRICING_QUOTE_TOO_LARGE` */
export function assertQuoteWithinSizeLimits({ lines, groups, codes }: QuoteInput): void {
  const sizes = {
    lines: lines.length,
    groups: groups.length,
    codes: codes.length,
    subtotal: sumBy(lines, line => line.priceMinor * line.quantity)
  }
  for (const [what, limit] of Object.entries(QUOTE_SIZE_LIMITS))
    if (sizes[what as keyof typeof sizes] > limit) throw quoteTooLargeError({ details: { what, limit } })
}
