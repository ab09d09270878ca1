import { createHash } from 'node:crypto'
import type { Market } from './input.ts'
import type { QuotedGroup, QuotedLine, Totals } from './totals.ts'

type Priced = {
  readonly market: Pick<Market, 'code' | 'currency'>
  readonly lines: readonly QuotedLine[]
  readonly groups: readonly QuotedGroup[]
  readonly totals: Totals
}

/**
 * What quotes that cost the same have in common: the market and its currency, and of each line and delivery, in the order of their keys, what
 * it is and what it costs. Names, codes and promotions are not part of it.
 */
export function hashOf({ market, lines, groups, totals }: Priced): string {
  const rows = [
    [market.code, market.currency, totals.totalMinor, totals.taxAddedMinor, totals.cashRoundingMinor],
    ...lines.map(line => [
      ...[line.key, line.variantId, line.quantity, line.group],
      ...[line.subtotalMinor, line.discountMinor, line.taxMinor, line.taxAddedMinor]
    ]),
    ...groups.map(group => [
      ...[group.key, group.option],
      ...[group.shippingMinor, group.shippingDiscountMinor, group.taxMinor, group.taxAddedMinor]
    ])
  ]
  return createHash('sha256').update(JSON.stringify(rows)).digest('hex')
}
