import { createHash } from 'node:crypto'
import type { QuotedGroup, QuotedLine, Totals } from './totals.ts'

type Priced = {
  readonly currency: string
  readonly lines: readonly QuotedLine[]
  readonly groups: readonly QuotedGroup[]
  readonly totals: Totals
}

/**
 * What quotes that cost the same have in common: the currency, and of each line and delivery, in the order of their keys, what
 * it is and what it costs. Names, codes and promotions are not part of it.
 */
export function hashOf({ currency, lines, groups, totals }: Priced): string {
  const rows = [
    [currency, totals.totalMinor, totals.taxAddedMinor, totals.cashRoundingMinor],
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
