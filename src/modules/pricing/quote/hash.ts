import { createHash } from 'node:crypto'
import type { QuoteMarket } from './input.ts'
import type { QuotedDeliveryGroup, QuotedLine, QuoteTotals } from './totals.ts'

type HashedQuote = {
  readonly market: Pick<QuoteMarket, 'code' | 'currency'>
  /** The sum of the lines of each variant. */
  readonly lines: readonly QuotedLine[]
  readonly groups: readonly QuotedDeliveryGroup[]
  readonly totals: QuoteTotals
}

/**
 * Hashes market, currency, and the content and cost of each variant and delivery, in their order. Quotes
 * with the same cost have the same hash. Names, codes, promotions and the split of a quantity into lines are not
 * part of it.
 */
export function hashQuote({ market, lines, groups, totals }: HashedQuote): string {
  const rows = [
    [market.code, market.currency, totals.totalMinor, totals.taxAddedMinor, totals.cashRoundingMinor],
    ...lines.map(line => [
      // The variant was once the key of a line, and stored hashes contain both.
      ...[line.variantId, line.variantId, line.quantity, line.group],
      ...[line.subtotalMinor, line.discountMinor, line.taxMinor, line.taxAddedMinor]
    ]),
    ...groups.map(group => [
      ...[group.key, group.option],
      ...[group.shippingMinor, group.shippingDiscountMinor, group.taxMinor, group.taxAddedMinor]
    ])
  ]
  return createHash('sha256').update(JSON.stringify(rows)).digest('hex')
}
