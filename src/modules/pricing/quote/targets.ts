import type { Destination } from '../../../kernel/areas.ts'
import { STANDARD } from '../taxes/categories.ts'
import type { QuoteGroup, QuoteLine, ShippingOption } from './input.ts'

/** What promotions take something off, and tax is paid for. */
export type Target = {
  /** Whom its components name. */
  readonly of: { readonly line: string } | { readonly group: string }
  readonly units: number
  readonly taxCategory: string
  readonly group: QuoteGroup
  /** What it costs without promotions. */
  readonly fullMinor: number
  /** What it costs after those that were taken so far. */
  leftMinor: number
  /** How many promotions took something off. */
  promotions: number
}
export type LineTarget = Target & { readonly line: QuoteLine }
export type DeliveryTarget = Target & {
  readonly option: ShippingOption
  /** Whether no other option of the delivery costs less. */
  readonly isCheapest: boolean
}

export function targetOfLine(line: QuoteLine, group: QuoteGroup): LineTarget {
  const { key, quantity: units, discountedPriceMinor, taxCategory } = line
  const fullMinor = discountedPriceMinor * units
  return {
    line,
    of: { line: key },
    units,
    taxCategory: taxCategory ?? STANDARD,
    group,
    fullMinor,
    leftMinor: fullMinor,
    promotions: 0
  }
}

/** `options`: all that are offered, the cheapest first. */
export function targetOfDelivery(
  group: QuoteGroup,
  option: ShippingOption,
  options: readonly ShippingOption[]
): DeliveryTarget {
  const { amountMinor: fullMinor } = option
  return {
    option,
    isCheapest: fullMinor === options[0]?.amountMinor,
    of: { group: group.key },
    units: 1,
    taxCategory: option.taxCategory ?? STANDARD,
    group,
    fullMinor,
    leftMinor: fullMinor,
    promotions: 0
  }
}

/** Where a group goes, as areas are asked about it. */
export function destinationOf({ destination }: QuoteGroup): Destination | null {
  if (destination === null) return null
  const { country, region, postalCode } = destination
  return { country, region: region ?? undefined, postalCode: postalCode ?? undefined }
}
